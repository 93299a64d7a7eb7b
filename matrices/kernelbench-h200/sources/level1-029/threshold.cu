// y = log(1 + exp(x)), and x itself beyond the threshold, where the two agree to the last digit and
// the exponential would overflow later. Blocks of 64 columns and two rows; the grid strides
// along the columns.

__device__ __forceinline__ float softplus(float value, float threshold) {
    return value > threshold ? value : log1pf(expf(value));
}

__global__ void softplus_threshold(const float* __restrict__ x, float* __restrict__ y, int rows,
                                   int cols, float threshold) {
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= rows) {
        return;
    }
    const long long base = static_cast<long long>(row) * cols;
    const int step = gridDim.x * blockDim.x;
    for (int col = blockIdx.x * blockDim.x + threadIdx.x; col < cols; col += step) {
        y[base + col] = softplus(x[base + col], threshold);
    }
}
