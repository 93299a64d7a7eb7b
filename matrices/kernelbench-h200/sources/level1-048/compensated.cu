// Means over the middle dimension of (batch, rows, cols): 32 columns x 8 rows a block. Each thread
// adds every eighth row of its column with compensation (Kahan), since thousands of terms go into
// one accumulator; the eight sums of a column meet in shared memory.

constexpr int kCols = 32;
constexpr int kRows = 8;

__global__ void mean_compensated(const float* __restrict__ x, float* __restrict__ y, int rows,
                                 int cols) {
    __shared__ float sums[kRows][kCols];

    const int tx = threadIdx.x;
    const int ty = threadIdx.y;
    const int col = blockIdx.x * kCols + tx;
    const long long batch = blockIdx.y;
    const float* slab = x + batch * rows * cols;

    float sum = 0.0f;
    float lost = 0.0f;
    if (col < cols) {
        for (int row = ty; row < rows; row += kRows) {
            const float term = slab[static_cast<long long>(row) * cols + col] - lost;
            const float next = sum + term;
            lost = (next - sum) - term;
            sum = next;
        }
    }
    sums[ty][tx] = sum;
    __syncthreads();

    if (ty == 0 && col < cols) {
        float total = sums[0][tx];
        for (int i = 1; i < kRows; ++i) {
            total += sums[i][tx];
        }
        y[batch * cols + col] = total / rows;
    }
}
