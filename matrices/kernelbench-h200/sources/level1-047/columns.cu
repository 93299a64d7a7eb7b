// Sums over the middle dimension of (batch, rows, cols): 32 columns x 8 rows a block, each thread
// every eighth row of its column; the eight partial sums of a column meet in shared memory.

constexpr int kCols = 32;
constexpr int kRows = 8;

__global__ void sum_columns(const float* __restrict__ x, float* __restrict__ y, int rows,
                            int cols) {
    __shared__ float partial[kRows][kCols];

    const int tx = threadIdx.x;
    const int ty = threadIdx.y;
    const int col = blockIdx.x * kCols + tx;
    const long long batch = blockIdx.y;
    const float* slab = x + batch * rows * cols;

    float sum = 0.0f;
    if (col < cols) {
        for (int row = ty; row < rows; row += kRows) {
            sum += slab[static_cast<long long>(row) * cols + col];
        }
    }
    partial[ty][tx] = sum;
    __syncthreads();
    for (int stride = kRows / 2; stride > 0; stride >>= 1) {
        if (ty < stride) {
            partial[ty][tx] += partial[ty + stride][tx];
        }
        __syncthreads();
    }
    if (ty == 0 && col < cols) {
        y[batch * cols + col] = partial[0][tx];
    }
}
