// C = A^T B with A stored (k, m): both factors lie as a product's inner loop reads them, so that
// tiles are copied as they are, four elements at a time. 64 threads make 32 x 32 outputs, 4 x 4
// each.

#include "gemm_load.cuh"
#include "gemm_fragment.cuh"

constexpr int kTile = 32;
constexpr int kTileK = 16;
constexpr int kPatch = 4;
constexpr int kThreads = 64;
constexpr int kQuads = kTile / 4;

__device__ __forceinline__ void copy_tile(float (&tile)[kTileK][kTile],
                                          const float* __restrict__ matrix, int k0, int col0, int k,
                                          int cols) {
#pragma unroll
    for (int i = threadIdx.x; i < kTileK * kQuads; i += kThreads) {
        const int row = i / kQuads;
        const int at = i % kQuads * 4;
        float4 quad = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
        if (k0 + row < k) {
            quad = load_quad(matrix + static_cast<long long>(k0 + row) * cols, col0 + at, cols);
        }
        *reinterpret_cast<float4*>(&tile[row][at]) = quad;
    }
}

__global__ void transposed_a_direct(const float* __restrict__ a, const float* __restrict__ b,
                                    float* __restrict__ c, int m, int n, int k) {
    __shared__ __align__(16) float tile_a[kTileK][kTile];
    __shared__ __align__(16) float tile_b[kTileK][kTile];

    const int row0 = blockIdx.y * kTile;
    const int col0 = blockIdx.x * kTile;
    const int own_row = threadIdx.x / kQuads * kPatch;
    const int own_col = threadIdx.x % kQuads * kPatch;

    float acc[kPatch][kPatch] = {};
    for (int k0 = 0; k0 < k; k0 += kTileK) {
        copy_tile(tile_a, a, k0, row0, k, m);
        copy_tile(tile_b, b, k0, col0, k, n);
        __syncthreads();
#pragma unroll
        for (int kk = 0; kk < kTileK; ++kk) {
            float fragment_a[kPatch];
            float fragment_b[kPatch];
#pragma unroll
            for (int i = 0; i < kPatch; ++i) {
                fragment_a[i] = tile_a[kk][own_row + i];
                fragment_b[i] = tile_b[kk][own_col + i];
            }
            outer_product(acc, fragment_a, fragment_b);
        }
        __syncthreads();
    }

#pragma unroll
    for (int i = 0; i < kPatch; ++i) {
        const int row = row0 + own_row + i;
        if (row < m) {
            store_quad(c + static_cast<long long>(row) * n, col0 + own_col, n,
                       make_float4(acc[i][0], acc[i][1], acc[i][2], acc[i][3]));
        }
    }
}
