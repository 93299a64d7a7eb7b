// C = A B, row-major: 64 threads make a 32 x 32 tile of C, 4 x 4 outputs each. Global memory is
// read and written four elements at a time; A's tile is transposed on its way to shared memory.

#include "gemm_load.cuh"
#include "gemm_fragment.cuh"

constexpr int kTile = 32;
constexpr int kTileK = 16;
constexpr int kPatch = 4;
constexpr int kThreads = 64;
constexpr int kQuadsA = kTileK / 4;
constexpr int kQuadsB = kTile / 4;

__global__ void matmul_vectorised(const float* __restrict__ a, const float* __restrict__ b,
                                  float* __restrict__ c, int m, int n, int k) {
    // Four floats of padding keep rows aligned for vector loads.
    __shared__ __align__(16) float tile_a[kTileK][kTile + 4];
    __shared__ __align__(16) float tile_b[kTileK][kTile];

    const int tid = threadIdx.x;
    const int first_row = blockIdx.y * kTile;
    const int first_col = blockIdx.x * kTile;
    const int patch_row = (tid / (kTile / kPatch)) * kPatch;
    const int patch_col = (tid % (kTile / kPatch)) * kPatch;

    float acc[kPatch][kPatch] = {};
    for (int k0 = 0; k0 < k; k0 += kTileK) {
#pragma unroll
        for (int i = tid; i < kTile * kQuadsA; i += kThreads) {
            const int row = i / kQuadsA;
            const int at = (i % kQuadsA) * 4;
            float4 quad = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
            if (first_row + row < m) {
                quad = load_quad(a + (first_row + row) * k, k0 + at, k);
            }
            tile_a[at + 0][row] = quad.x;
            tile_a[at + 1][row] = quad.y;
            tile_a[at + 2][row] = quad.z;
            tile_a[at + 3][row] = quad.w;
        }
#pragma unroll
        for (int i = tid; i < kTileK * kQuadsB; i += kThreads) {
            const int row = i / kQuadsB;
            const int at = (i % kQuadsB) * 4;
            float4 quad = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
            if (k0 + row < k) {
                quad = load_quad(b + (k0 + row) * n, first_col + at, n);
            }
            *reinterpret_cast<float4*>(&tile_b[row][at]) = quad;
        }
        __syncthreads();

#pragma unroll
        for (int kk = 0; kk < kTileK; ++kk) {
            const float4 u = *reinterpret_cast<const float4*>(&tile_a[kk][patch_row]);
            const float4 v = *reinterpret_cast<const float4*>(&tile_b[kk][patch_col]);
            const float fragment_a[kPatch] = {u.x, u.y, u.z, u.w};
            const float fragment_b[kPatch] = {v.x, v.y, v.z, v.w};
            outer_product(acc, fragment_a, fragment_b);
        }
        __syncthreads();
    }

    for (int i = 0; i < kPatch; ++i) {
        const int row = first_row + patch_row + i;
        if (row < m) {
            store_quad(c + row * n, first_col + patch_col, n,
                       make_float4(acc[i][0], acc[i][1], acc[i][2], acc[i][3]));
        }
    }
}
