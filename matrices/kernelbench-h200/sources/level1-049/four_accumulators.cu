// Maxima over the middle dimension of (batch, rows, cols), one column a thread. Four accumulators
// take rows in turn, so that four loads are under way; the rows left over go to the first.

#include "limits.cuh"
#include "pool_nan.cuh"

constexpr int kAccumulators = 4;

__global__ void max_four_accumulators(const float* __restrict__ x, float* __restrict__ y, int rows,
                                      int cols) {
    const int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (col >= cols) {
        return;
    }
    const long long batch = blockIdx.y;
    const long long step = cols;
    const float* at = x + batch * rows * cols + col;

    float best[kAccumulators];
    for (int k = 0; k < kAccumulators; ++k) {
        best[k] = -INFINITY;
    }
    int left = rows;
    for (; left >= kAccumulators; left -= kAccumulators) {
#pragma unroll
        for (int k = 0; k < kAccumulators; ++k) {
            best[k] = nan_max(best[k], at[k * step]);
        }
        at += kAccumulators * step;
    }
    for (; left > 0; --left) {
        best[0] = nan_max(best[0], *at);
        at += step;
    }
    float largest = best[0];
    for (int k = 1; k < kAccumulators; ++k) {
        largest = nan_max(largest, best[k]);
    }
    y[batch * cols + col] = largest;
}
