// c = A b with the reduction split over blockIdx.x: a block takes eight rows, so that every load
// of b serves eight products, and adds them up over its part of k. Partial sums go to a workspace
// of rows x splits and are added by a second kernel.

#include "warp_reduce.cuh"
#include "block_reduce.cuh"

constexpr int kThreads = 128;
constexpr int kRows = 8;

__global__ void matvec_partial(const float* __restrict__ a, const float* __restrict__ b,
                               float* __restrict__ partial, int m, int k, int length) {
    __shared__ float warp_totals[kThreads / 32];

    const int split = blockIdx.x;
    const int first_row = blockIdx.y * kRows;
    const int begin = split * length;
    const int end = min(begin + length, k);

    float acc[kRows] = {};
    for (int i = begin + threadIdx.x; i < end; i += kThreads) {
        const float factor = b[i];
        for (int r = 0; r < kRows; ++r) {
            // What is read again beyond the last row is not stored.
            const int row = min(first_row + r, m - 1);
            acc[r] += a[static_cast<long long>(row) * k + i] * factor;
        }
    }

    for (int r = 0; r < kRows; ++r) {
        const float total = block_sum(acc[r], warp_totals);
        if (threadIdx.x == 0 && first_row + r < m) {
            partial[(first_row + r) * gridDim.x + split] = total;
        }
    }
}

__global__ void matvec_combine(const float* __restrict__ partial, float* __restrict__ c, int m,
                               int splits) {
    const int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= m) {
        return;
    }
    float total = partial[row * splits];
    for (int s = 1; s < splits; ++s) {
        total += partial[row * splits + s];
    }
    c[row] = total;
}
