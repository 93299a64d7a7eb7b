// Sums over the middle dimension of (batch, rows, cols), one column a thread, the rows split over
// blockIdx.y and taken four at a time into four sums. Partial sums go to a workspace of
// batch x splits x cols and are added by a second kernel.

__global__ void sum_partial(const float* __restrict__ x, float* __restrict__ partial, int rows,
                            int cols, int length) {
    const int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (col >= cols) {
        return;
    }
    const int split = blockIdx.y;
    const long long batch = blockIdx.z;
    const int begin = split * length;
    const int end = min(begin + length, rows);
    const float* column = x + batch * rows * cols + col;

    float sum0 = 0.0f;
    float sum1 = 0.0f;
    float sum2 = 0.0f;
    float sum3 = 0.0f;
    int row = begin;
    for (; row + 3 < end; row += 4) {
        const long long at = static_cast<long long>(row) * cols;
        sum0 += column[at];
        sum1 += column[at + cols];
        sum2 += column[at + 2LL * cols];
        sum3 += column[at + 3LL * cols];
    }
    for (; row < end; ++row) {
        sum0 += column[static_cast<long long>(row) * cols];
    }
    partial[(batch * gridDim.y + split) * cols + col] = (sum0 + sum1) + (sum2 + sum3);
}

__global__ void sum_combine(const float* __restrict__ partial, float* __restrict__ y, int outputs,
                            int cols, int splits) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= outputs) {
        return;
    }
    const int batch = i / cols;
    const int col = i % cols;
    float total = 0.0f;
    for (int s = 0; s < splits; ++s) {
        total += partial[(static_cast<long long>(batch) * splits + s) * cols + col];
    }
    y[i] = total;
}
