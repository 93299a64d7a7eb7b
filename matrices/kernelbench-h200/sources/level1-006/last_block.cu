// C = A B, the reduction split over grid layers, in one launch: of the blocks that share a 16 x 16
// tile, the one that finishes last, which a counter of the tile tells, adds all partial tiles in
// the order of the layers, whatever order they finished in. Counters start at zero.

constexpr int kTile = 16;

__global__ void matmul_last_block(const float* __restrict__ a, const float* __restrict__ b,
                                  volatile float* partial, unsigned* finished,
                                  float* __restrict__ c, int m, int n, int k, int length) {
    __shared__ float tile_a[kTile][kTile + 1];
    __shared__ float tile_b[kTile][kTile + 1];
    __shared__ bool is_last;

    const int tx = threadIdx.x;
    const int ty = threadIdx.y;
    const int row = blockIdx.y * kTile + ty;
    const int col = blockIdx.x * kTile + tx;
    const int begin = blockIdx.z * length;
    const int end = min(begin + length, k);
    const float* row_a = a + static_cast<long long>(row) * k;

    float acc = 0.0f;
    for (int k0 = begin; k0 < end; k0 += kTile) {
        tile_a[ty][tx] = (row < m && k0 + tx < end) ? row_a[k0 + tx] : 0.0f;
        tile_b[ty][tx] =
            (k0 + ty < end && col < n) ? b[static_cast<long long>(k0 + ty) * n + col] : 0.0f;
        __syncthreads();
#pragma unroll
        for (int kk = 0; kk < kTile; ++kk) {
            acc += tile_a[ty][kk] * tile_b[kk][tx];
        }
        __syncthreads();
    }

    const bool inside = row < m && col < n;
    const int at = row * n + col;
    if (inside) {
        partial[static_cast<long long>(blockIdx.z) * m * n + at] = acc;
    }
    __threadfence();
    __syncthreads();
    if (tx == 0 && ty == 0) {
        const unsigned before = atomicAdd(finished + blockIdx.y * gridDim.x + blockIdx.x, 1u);
        is_last = before == gridDim.z - 1;
    }
    __syncthreads();
    if (!is_last || !inside) {
        return;
    }
    __threadfence();

    float total = 0.0f;
    for (int layer = 0; layer < gridDim.z; ++layer) {
        total += partial[static_cast<long long>(layer) * m * n + at];
    }
    c[at] = total;
}
