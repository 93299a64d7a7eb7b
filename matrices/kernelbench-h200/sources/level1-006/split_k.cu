// C = A B with few outputs and very long sums: grid layers share the reduction, each makes 32 x 32
// tiles of partial products in a workspace. 64 threads a tile, 4 x 4 outputs each.

#include "gemm_fragment.cuh"
#include "gemm_combine.cuh"

constexpr int kTile = 32;
constexpr int kTileK = 8;
constexpr int kPatch = 4;
constexpr int kThreads = 64;

__global__ void split_k_partial(const float* __restrict__ a, const float* __restrict__ b,
                                float* __restrict__ partial, int m, int n, int k, int length) {
    __shared__ float tile_a[kTileK][kTile + 1];
    __shared__ float tile_b[kTileK][kTile];

    const int tid = threadIdx.x;
    const int first_row = blockIdx.y * kTile;
    const int first_col = blockIdx.x * kTile;
    const int patch_row = tid / (kTile / kPatch) * kPatch;
    const int patch_col = tid % (kTile / kPatch) * kPatch;
    const int begin = blockIdx.z * length;
    const int end = min(begin + length, k);

    float acc[kPatch][kPatch] = {};
    for (int k0 = begin; k0 < end; k0 += kTileK) {
        for (int i = tid; i < kTile * kTileK; i += kThreads) {
            const int row = i / kTileK;
            const int at = k0 + i % kTileK;
            // Beyond the end of this part lie the next part's terms, which are not its own.
            tile_a[i % kTileK][row] = (first_row + row < m && at < end)
                                          ? a[static_cast<long long>(first_row + row) * k + at]
                                          : 0.0f;
        }
        for (int i = tid; i < kTileK * kTile; i += kThreads) {
            const int at = k0 + i / kTile;
            const int col = first_col + i % kTile;
            tile_b[i / kTile][i % kTile] =
                (at < end && col < n) ? b[static_cast<long long>(at) * n + col] : 0.0f;
        }
        __syncthreads();

        for (int kk = 0; kk < kTileK; ++kk) {
            float fragment_a[kPatch];
            float fragment_b[kPatch];
            for (int i = 0; i < kPatch; ++i) {
                fragment_a[i] = tile_a[kk][patch_row + i];
                fragment_b[i] = tile_b[kk][patch_col + i];
            }
            outer_product(acc, fragment_a, fragment_b);
        }
        __syncthreads();
    }

    float* own = partial + static_cast<long long>(blockIdx.z) * m * n;
    for (int i = 0; i < kPatch; ++i) {
        const int row = first_row + patch_row + i;
        for (int j = 0; j < kPatch; ++j) {
            const int col = first_col + patch_col + j;
            if (row < m && col < n) {
                own[row * n + col] = acc[i][j];
            }
        }
    }
}
