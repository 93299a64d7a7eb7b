// C = A B with A and B symmetric, reading nothing below their diagonals: a tile below is the mirror
// image of one above, a tile on the diagonal is mirrored in itself. One output a thread.

constexpr int kTile = 16;

// Fills tile[i][j] with matrix[row0 + i][col0 + j]; loads are coalesced whichever way.
__device__ __forceinline__ void stage(float (&tile)[kTile][kTile + 1],
                                      const float* __restrict__ matrix, int row0, int col0, int n) {
    const int tx = threadIdx.x;
    const int ty = threadIdx.y;
    if (row0 < col0) {
        const bool inside = row0 + ty < n && col0 + tx < n;
        tile[ty][tx] = inside ? matrix[(row0 + ty) * n + col0 + tx] : 0.0f;
    } else if (row0 > col0) {
        const bool inside = col0 + ty < n && row0 + tx < n;
        tile[tx][ty] = inside ? matrix[(col0 + ty) * n + row0 + tx] : 0.0f;
    } else {
        const int low = min(tx, ty);
        const int high = max(tx, ty);
        tile[ty][tx] = row0 + high < n ? matrix[(row0 + low) * n + row0 + high] : 0.0f;
    }
}

__global__ void symmetric_upper(const float* __restrict__ a, const float* __restrict__ b,
                                float* __restrict__ c, int n) {
    __shared__ float tile_a[kTile][kTile + 1];
    __shared__ float tile_b[kTile][kTile + 1];

    const int row0 = blockIdx.y * kTile;
    const int col0 = blockIdx.x * kTile;

    float acc = 0.0f;
    for (int k0 = 0; k0 < n; k0 += kTile) {
        stage(tile_a, a, row0, k0, n);
        stage(tile_b, b, k0, col0, n);
        __syncthreads();
#pragma unroll
        for (int kk = 0; kk < kTile; ++kk) {
            acc += tile_a[threadIdx.y][kk] * tile_b[kk][threadIdx.x];
        }
        __syncthreads();
    }

    const int row = row0 + threadIdx.y;
    const int col = col0 + threadIdx.x;
    if (row < n && col < n) {
        c[row * n + col] = acc;
    }
}
