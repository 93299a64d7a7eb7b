// Index of the largest element along the middle dimension of (batch, rows, cols), the first of
// equal ones: one column a thread, the rows split over blockIdx.y. The candidates of the parts go
// to workspaces of batch x splits x cols; a second kernel chooses among them.

#include "arg_max.cuh"

__global__ void argmax_partial(const float* __restrict__ x, float* __restrict__ values,
                               int* __restrict__ indices, int rows, int cols, int length) {
    const int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (col >= cols) {
        return;
    }
    const int split = blockIdx.y;
    const long long batch = blockIdx.z;
    const int begin = split * length;
    const int end = min(begin + length, rows);
    const float* column = x + batch * rows * cols + col;

    Largest best;
    best.value = 0.0f;
    best.index = -1;
    for (int row = begin; row < end; ++row) {
        take(best, column[static_cast<long long>(row) * cols], row);
    }
    const long long at = (batch * gridDim.y + split) * cols + col;
    values[at] = best.value;
    indices[at] = best.index;
}

__global__ void argmax_combine(const float* __restrict__ values, const int* __restrict__ indices,
                               long long* __restrict__ y, int outputs, int cols, int splits) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= outputs) {
        return;
    }
    const long long first = static_cast<long long>(i / cols) * splits * cols + i % cols;
    Largest best;
    best.value = values[first];
    best.index = indices[first];
    for (int s = 1; s < splits; ++s) {
        Largest other;
        other.value = values[first + static_cast<long long>(s) * cols];
        other.index = indices[first + static_cast<long long>(s) * cols];
        best = larger(best, other);
    }
    y[i] = best.index;
}
