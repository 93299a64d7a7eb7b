// C = A B^T with B stored (n, k): every output is a dot product of two rows. A warp takes one row
// of A and four of B, its lanes neighbouring terms, and adds up by shuffles; a block's four warps
// take four rows of A.

#include "warp_reduce.cuh"

constexpr int kWarps = 4;
constexpr int kCols = 4;

__global__ void transposed_b_dots(const float* __restrict__ a, const float* __restrict__ b,
                                  float* __restrict__ c, int m, int n, int k) {
    const int lane = threadIdx.x;
    const int row = blockIdx.y * kWarps + threadIdx.y;
    const int first_col = blockIdx.x * kCols;
    if (row >= m) {
        return;
    }

    const float* row_a = a + static_cast<size_t>(row) * k;
    const float* rows_b[kCols];
#pragma unroll
    for (int j = 0; j < kCols; ++j) {
        // Rows beyond the last are read as the last, and their products not stored.
        rows_b[j] = b + static_cast<size_t>(min(first_col + j, n - 1)) * k;
    }

    float acc[kCols] = {};
    for (int i = lane; i < k; i += 32) {
        const float factor = row_a[i];
#pragma unroll
        for (int j = 0; j < kCols; ++j) {
            acc[j] = fmaf(factor, rows_b[j][i], acc[j]);
        }
    }

    float own = 0.0f;
#pragma unroll
    for (int j = 0; j < kCols; ++j) {
        const float total = warp_sum(acc[j]);
        if (lane == j) {
            own = total;
        }
    }
    // One lane a column, so that a warp stores once.
    if (lane < kCols && first_col + lane < n) {
        c[static_cast<size_t>(row) * n + first_col + lane] = own;
    }
}
