// diag(a) B scales the rows of B, four elements a thread where rows are aligned: a block takes 16
// rows x 32 columns, which is a cache line of each.

#include "gemm_load.cuh"

__global__ void diagonal_vectorised(const float* __restrict__ a, const float* __restrict__ b,
                                    float* __restrict__ c, int n, int m) {
    const int at = (blockIdx.x * blockDim.x + threadIdx.x) * 4;
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= n || at >= m) {
        return;
    }
    const float factor = a[row];
    float4 quad = load_quad(b + static_cast<long long>(row) * m, at, m);
    quad.x *= factor;
    quad.y *= factor;
    quad.z *= factor;
    quad.w *= factor;
    store_quad(c + static_cast<long long>(row) * m, at, m, quad);
}
