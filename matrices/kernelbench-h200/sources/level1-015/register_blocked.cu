// C = A B with A and B lower triangular: 64 threads make a 32 x 32 tile, 4 x 4 outputs each, and
// sum from the tile's first column to its last row only. Blocks above the diagonal write zeros.

#include "gemm_fragment.cuh"

constexpr int kTile = 32;
constexpr int kTileK = 8;
constexpr int kPatch = 4;
constexpr int kThreads = 64;

__global__ void lower_register_blocked(const float* __restrict__ a, const float* __restrict__ b,
                                       float* __restrict__ c, int n) {
    __shared__ float tile_a[kTileK][kTile + 1];
    __shared__ float tile_b[kTileK][kTile + 1];

    const int tid = threadIdx.x;
    const int row0 = blockIdx.y * kTile;
    const int col0 = blockIdx.x * kTile;
    const int own_row = row0 + tid / (kTile / kPatch) * kPatch;
    const int own_col = col0 + tid % (kTile / kPatch) * kPatch;

    float acc[kPatch][kPatch] = {};
    if (row0 >= col0) {
        const int last = min(row0 + kTile, n);
        for (int k0 = col0; k0 < last; k0 += kTileK) {
            for (int i = tid; i < kTile * kTileK; i += kThreads) {
                const int a_row = row0 + i / kTileK;
                const int a_col = k0 + i % kTileK;
                const bool in_a = a_row < n && a_col < n;
                tile_a[i % kTileK][i / kTileK] = in_a ? a[a_row * n + a_col] : 0.0f;
                const int b_row = k0 + i / kTile;
                const int b_col = col0 + i % kTile;
                const bool in_b = b_row < n && b_col < n;
                tile_b[i / kTile][i % kTile] = in_b ? b[b_row * n + b_col] : 0.0f;
            }
            __syncthreads();
            for (int k = 0; k < kTileK; ++k) {
                float fragment_a[kPatch];
                float fragment_b[kPatch];
                for (int i = 0; i < kPatch; ++i) {
                    fragment_a[i] = tile_a[k][own_row - row0 + i];
                    fragment_b[i] = tile_b[k][own_col - col0 + i];
                }
                outer_product(acc, fragment_a, fragment_b);
            }
            __syncthreads();
        }
    }

    for (int i = 0; i < kPatch; ++i) {
        for (int j = 0; j < kPatch; ++j) {
            const int row = own_row + i;
            const int col = own_col + j;
            if (row < n && col < n) {
                c[row * n + col] = col > row ? 0.0f : acc[i][j];
            }
        }
    }
}
