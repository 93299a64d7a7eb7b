// Maxima over the middle dimension of (batch, rows, cols), the rows split over blockIdx.y. Floats
// travel as unsigned keys of the same order, so that parts meet by atomicMax in a zeroed workspace,
// below all keys; a second kernel turns keys into floats. A NaN is the largest key.

#include "pool_ordered.cuh"

constexpr int kCols = 32;
constexpr int kRows = 4;

__device__ __forceinline__ unsigned max_key(float value) {
    return value != value ? 0xffffffffu : ordered_key(value);
}

__global__ void max_keys(const float* __restrict__ x, unsigned* keys, int rows, int cols,
                         int length) {
    __shared__ unsigned best_of[kRows][kCols];

    const int tx = threadIdx.x;
    const int ty = threadIdx.y;
    const int col = blockIdx.x * kCols + tx;
    const long long batch = blockIdx.z;
    const int begin = blockIdx.y * length;
    const int end = min(begin + length, rows);

    unsigned best = 0u;
    if (col < cols) {
        for (int row = begin + ty; row < end; row += kRows) {
            best = max(best, max_key(x[(batch * rows + row) * cols + col]));
        }
    }
    best_of[ty][tx] = best;
    __syncthreads();

    if (ty == 0 && col < cols) {
        for (int i = 1; i < kRows; ++i) {
            best = max(best, best_of[i][tx]);
        }
        atomicMax(&keys[batch * cols + col], best);
    }
}

__global__ void max_values(const unsigned* __restrict__ keys, float* __restrict__ y, int outputs) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < outputs) {
        y[i] = ordered_value(keys[i]);
    }
}
