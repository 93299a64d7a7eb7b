// 2D average pooling of 11 x 11 windows that do not overlap, 11 windows of a row a block: every
// thread adds the 11 elements of one input column, neighbours side by side in memory, and the
// first 11 threads add 11 of these column sums each.

constexpr int kKernel = 11;
constexpr int kOutputs = 11;
constexpr int kColumns = kOutputs * kKernel;

__global__ void avgpool2d_column_sums(const float* __restrict__ x, float* __restrict__ y,
                                      int height, int width, int out_width) {
    __shared__ float column_sums[kColumns];

    const int tid = threadIdx.x;
    const int out_row = blockIdx.y;
    const int out_rows = gridDim.y;
    const long long plane = blockIdx.z;
    const int col = blockIdx.x * kColumns + tid;

    if (tid < kColumns && col < width) {
        const float* column = x + (plane * height + out_row * kKernel) * width + col;
        float sum = 0.0f;
#pragma unroll
        for (int i = 0; i < kKernel; ++i) {
            sum += column[i * width];
        }
        column_sums[tid] = sum;
    }
    __syncthreads();

    const int out_col = blockIdx.x * kOutputs + tid;
    if (tid < kOutputs && out_col < out_width) {
        float total = 0.0f;
        for (int j = 0; j < kKernel; ++j) {
            total += column_sums[tid * kKernel + j];
        }
        y[(plane * out_rows + out_row) * out_width + out_col] = total / (kKernel * kKernel);
    }
}
