// Minima over the middle dimension of (batch, rows, cols) in two kernels: one column a thread, the
// rows split over blockIdx.y and their minima written to a workspace of batch x splits x cols; then
// the minimum of these. A NaN anywhere is remembered apart and put back at the end.

#include "limits.cuh"

__global__ void min_partial(const float* __restrict__ x, float* __restrict__ partial, int rows,
                            int cols, int length) {
    const int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (col >= cols) {
        return;
    }
    const long long batch = blockIdx.z;
    const int begin = blockIdx.y * length;
    const int end = min(begin + length, rows);

    float least = INFINITY;
    bool found_nan = false;
    for (int row = begin; row < end; ++row) {
        const float value = x[(batch * rows + row) * cols + col];
        least = fminf(least, value);
        found_nan = found_nan || value != value;
    }
    partial[(batch * gridDim.y + blockIdx.y) * cols + col] = found_nan ? __int_as_float(0x7fffffff) : least;
}

__global__ void min_combine(const float* __restrict__ partial, float* __restrict__ y, int outputs,
                            int cols, int splits) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= outputs) {
        return;
    }
    const float* first = partial + static_cast<long long>(i / cols) * splits * cols + i % cols;
    float least = INFINITY;
    bool found_nan = false;
    for (int s = 0; s < splits; ++s) {
        const float value = first[s * cols];
        least = fminf(least, value);
        found_nan = found_nan || value != value;
    }
    y[i] = found_nan ? __int_as_float(0x7fffffff) : least;
}
