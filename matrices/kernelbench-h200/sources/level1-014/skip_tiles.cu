// C = A B with A and B upper triangular: a tile of C sums from its own row's diagonal to its own
// column's, all other products are zero. Tiles below the diagonal are zeros, and in tiles on it the
// lower half is. One output a thread.

constexpr int kTile = 16;

__global__ void upper_skip_tiles(const float* __restrict__ a, const float* __restrict__ b,
                                 float* __restrict__ c, int n) {
    __shared__ float tile_a[kTile][kTile];
    __shared__ float tile_b[kTile][kTile + 1];

    const int tx = threadIdx.x;
    const int ty = threadIdx.y;
    const int row = blockIdx.y * kTile + ty;
    const int col = blockIdx.x * kTile + tx;

    if (blockIdx.x < blockIdx.y) {
        if (row < n && col < n) {
            c[row * n + col] = 0.0f;
        }
        return;
    }

    float acc = 0.0f;
    for (int tile = blockIdx.y; tile <= blockIdx.x; ++tile) {
        const int k0 = tile * kTile;
        tile_a[ty][tx] = (row < n && k0 + tx < n) ? a[row * n + k0 + tx] : 0.0f;
        tile_b[ty][tx] = (k0 + ty < n && col < n) ? b[(k0 + ty) * n + col] : 0.0f;
        __syncthreads();
#pragma unroll
        for (int k = 0; k < kTile; ++k) {
            acc += tile_a[ty][k] * tile_b[k][tx];
        }
        __syncthreads();
    }
    if (row < n && col < n) {
        c[row * n + col] = row <= col ? acc : 0.0f;
    }
}
