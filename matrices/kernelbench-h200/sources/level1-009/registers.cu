// C = A B with A tall, B wide and few terms, without shared memory: a thread makes 4 x 4 outputs
// from four rows of A and four neighbouring columns of B, read four at a time along both; a warp's
// threads lie side by side, so that its reads of A are broadcasts.

#include "gemm_load.cuh"
#include "gemm_fragment.cuh"

constexpr int kPatch = 4;

__global__ void skinny_registers(const float* __restrict__ a, const float* __restrict__ b,
                                 float* __restrict__ c, int m, int n) {
    const int col = (blockIdx.x * blockDim.x + threadIdx.x) * kPatch;
    const int row = (blockIdx.y * blockDim.y + threadIdx.y) * kPatch;
    if (row >= m || col >= m) {
        return;
    }

    float acc[kPatch][kPatch] = {};
    for (int k0 = 0; k0 < n; k0 += 4) {
        float4 left[kPatch];
#pragma unroll
        for (int i = 0; i < kPatch; ++i) {
            // Rows beyond the last are read as the last and not stored.
            left[i] = load_quad(a + min(row + i, m - 1) * n, k0, n);
        }
        const int terms = min(4, n - k0);
#pragma unroll
        for (int at = 0; at < 4; ++at) {
            if (at >= terms) {
                break;
            }
            const float4 right = load_quad(b + static_cast<size_t>(k0 + at) * m, col, m);
            float fragment_a[kPatch];
#pragma unroll
            for (int i = 0; i < kPatch; ++i) {
                fragment_a[i] = at == 0 ? left[i].x
                              : at == 1 ? left[i].y
                              : at == 2 ? left[i].z
                                        : left[i].w;
            }
            const float fragment_b[kPatch] = {right.x, right.y, right.z, right.w};
            outer_product(acc, fragment_a, fragment_b);
        }
    }

    const int rows = min(kPatch, m - row);
    for (int i = 0; i < rows; ++i) {
        store_quad(c + static_cast<size_t>(row + i) * m, col, m,
                   make_float4(acc[i][0], acc[i][1], acc[i][2], acc[i][3]));
    }
}
