// C = A^T B with A stored (k, m), the reduction split over grid layers: 128 threads make a 16 x 32
// tile of partial products, four rows of one column each, which a second kernel adds up.

#include "gemm_combine.cuh"

constexpr int kTileM = 16;
constexpr int kTileN = 32;
constexpr int kTileK = 16;
constexpr int kRows = 4;

__global__ void transposed_a_partial(const float* __restrict__ a, const float* __restrict__ b,
                                     float* __restrict__ partial, int m, int n, int k, int length) {
    __shared__ float tile_a[kTileK][kTileM + 1];
    __shared__ float tile_b[kTileK][kTileN];

    const int tx = threadIdx.x;
    const int ty = threadIdx.y;
    const int tid = ty * kTileN + tx;
    const int row0 = blockIdx.y * kTileM;
    const int col = blockIdx.x * kTileN + tx;
    const int begin = blockIdx.z * length;
    const int end = min(begin + length, k);

    float acc[kRows] = {};
    for (int k0 = begin; k0 < end; k0 += kTileK) {
        for (int i = tid; i < kTileK * kTileM; i += kTileN * kRows) {
            const int at = k0 + i / kTileM;
            const int row = row0 + i % kTileM;
            tile_a[i / kTileM][i % kTileM] = (at < end && row < m) ? a[at * m + row] : 0.0f;
        }
        for (int s = ty; s < kTileK; s += kTileM / kRows) {
            tile_b[s][tx] = (k0 + s < end && col < n) ? b[(k0 + s) * n + col] : 0.0f;
        }
        __syncthreads();
#pragma unroll
        for (int s = 0; s < kTileK; ++s) {
#pragma unroll
            for (int i = 0; i < kRows; ++i) {
                acc[i] += tile_a[s][ty * kRows + i] * tile_b[s][tx];
            }
        }
        __syncthreads();
    }

    float* layer = partial + static_cast<long long>(blockIdx.z) * m * n;
#pragma unroll
    for (int i = 0; i < kRows; ++i) {
        const int row = row0 + ty * kRows + i;
        if (row < m && col < n) {
            layer[row * n + col] = acc[i];
        }
    }
}
