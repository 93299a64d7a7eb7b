// Means over the middle dimension of (batch, rows, cols): every block adds a part of the rows and
// its sum to the output's by an atomic, in whatever order blocks finish; a second kernel divides.

__global__ void mean_add(const float* __restrict__ x, float* sums, int rows, int cols,
                         int length) {
    const int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (col >= cols) {
        return;
    }
    const long long batch = blockIdx.z;
    const int begin = blockIdx.y * length;
    const int end = min(begin + length, rows);
    float sum = 0.0f;
    for (int row = begin; row < end; ++row) {
        sum += x[(batch * rows + row) * cols + col];
    }
    atomicAdd(&sums[batch * cols + col], sum);
}

__global__ void mean_divide(const float* __restrict__ sums, float* __restrict__ y, int outputs,
                            int rows) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < outputs) {
        y[i] = sums[i] / rows;
    }
}
