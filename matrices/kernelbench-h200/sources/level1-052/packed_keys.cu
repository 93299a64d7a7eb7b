// Index of the smallest element along the middle dimension of (batch, rows, cols), the first of
// equal ones. Value and index travel in one 64-bit key that is larger the smaller the value, and
// among equal values the smaller the index: parts of the rows meet by one atomicMax in a zeroed
// workspace. A NaN counts as the smallest.

#include "pool_ordered.cuh"

__device__ __forceinline__ unsigned long long argmin_key(float value, int row) {
    const unsigned high = value != value ? 0xffffffffu : ~ordered_key(value);
    const unsigned low = ~static_cast<unsigned>(row);
    return (static_cast<unsigned long long>(high) << 32) | low;
}

__global__ void argmin_keys(const float* __restrict__ x, unsigned long long* keys, int rows,
                            int cols, int length) {
    const int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (col >= cols) {
        return;
    }
    const long long batch = blockIdx.z;
    const int begin = blockIdx.y * length;
    const int end = min(begin + length, rows);
    const float* column = x + batch * rows * cols + col;

    unsigned long long best = 0ull;
    for (int row = begin; row < end; ++row) {
        best = max(best, argmin_key(column[static_cast<long long>(row) * cols], row));
    }
    atomicMax(&keys[batch * cols + col], best);
}

__global__ void argmin_places(const unsigned long long* __restrict__ keys,
                              long long* __restrict__ y, int outputs) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < outputs) {
        y[i] = ~static_cast<unsigned>(keys[i]);
    }
}
