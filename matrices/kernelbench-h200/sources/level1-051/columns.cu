// Index of the largest element along the middle dimension of (batch, rows, cols), the first of
// equal ones: 32 columns x 8 rows a block, each thread every eighth row of its column; the eight
// candidates of a column meet in shared memory.

#include "arg_max.cuh"

constexpr int kCols = 32;
constexpr int kRows = 8;

__global__ void argmax_columns(const float* __restrict__ x, long long* __restrict__ y, int rows,
                               int cols) {
    __shared__ float values[kRows][kCols];
    __shared__ int indices[kRows][kCols];

    const int tx = threadIdx.x;
    const int ty = threadIdx.y;
    const int col = blockIdx.x * kCols + tx;
    const long long batch = blockIdx.y;
    const float* slab = x + batch * rows * cols;

    Largest best;
    best.value = 0.0f;
    best.index = -1;
    if (col < cols) {
        for (int row = ty; row < rows; row += kRows) {
            take(best, slab[static_cast<long long>(row) * cols + col], row);
        }
    }
    values[ty][tx] = best.value;
    indices[ty][tx] = best.index;
    __syncthreads();

    for (int stride = kRows / 2; stride > 0; stride >>= 1) {
        if (ty < stride) {
            Largest other;
            other.value = values[ty + stride][tx];
            other.index = indices[ty + stride][tx];
            best = larger(best, other);
            values[ty][tx] = best.value;
            indices[ty][tx] = best.index;
        }
        __syncthreads();
    }
    if (ty == 0 && col < cols) {
        y[batch * cols + col] = best.index;
    }
}
