// Row-wise log-softmax, several blocks a row: each takes the maximum of its part and the sum of
// exponentials below it; one warp a row puts the parts together; a third kernel subtracts.

#include "limits.cuh"
#include "warp_reduce.cuh"
#include "block_reduce.cuh"

constexpr int kThreads = 128;
constexpr int kWarps = kThreads / 32;

__device__ __forceinline__ float block_max(float value, float* warp_values) {
    value = warp_max(value);
    if (threadIdx.x % 32 == 0) {
        warp_values[threadIdx.x / 32] = value;
    }
    __syncthreads();
    float largest = warp_values[0];
    for (int w = 1; w < kWarps; ++w) {
        largest = fmaxf(largest, warp_values[w]);
    }
    __syncthreads();
    return largest;
}

__global__ void logsoftmax_parts(const float* __restrict__ x, float* __restrict__ part_max,
                                 float* __restrict__ part_sum, int cols, int length) {
    __shared__ float scratch[kWarps];

    const float* row = x + static_cast<long long>(blockIdx.y) * cols;
    const int begin = blockIdx.x * length;
    const int end = min(begin + length, cols);

    float largest = -FLT_MAX;
    for (int i = begin + threadIdx.x; i < end; i += kThreads) {
        largest = fmaxf(largest, row[i]);
    }
    largest = block_max(largest, scratch);

    float sum = 0.0f;
    for (int i = begin + threadIdx.x; i < end; i += kThreads) {
        sum += expf(row[i] - largest);
    }
    sum = block_sum(sum, scratch);

    if (threadIdx.x == 0) {
        part_max[blockIdx.y * gridDim.x + blockIdx.x] = largest;
        part_sum[blockIdx.y * gridDim.x + blockIdx.x] = sum;
    }
}

__global__ void logsoftmax_rows(const float* __restrict__ part_max,
                                const float* __restrict__ part_sum, float* __restrict__ row_max,
                                float* __restrict__ row_log, int rows, int parts) {
    const int row = blockIdx.x * kWarps + threadIdx.x / 32;
    const int lane = threadIdx.x % 32;
    if (row >= rows) {
        return;
    }
    float largest = -FLT_MAX;
    for (int p = lane; p < parts; p += 32) {
        largest = fmaxf(largest, part_max[row * parts + p]);
    }
    largest = warp_max(largest);
    float sum = 0.0f;
    for (int p = lane; p < parts; p += 32) {
        sum += part_sum[row * parts + p] * expf(part_max[row * parts + p] - largest);
    }
    sum = warp_sum(sum);
    if (lane == 0) {
        row_max[row] = largest;
        row_log[row] = logf(sum);
    }
}

__global__ void logsoftmax_subtract(const float* __restrict__ x, const float* __restrict__ row_max,
                                    const float* __restrict__ row_log, float* __restrict__ y,
                                    int cols, int length) {
    const int row = blockIdx.y;
    const long long base = static_cast<long long>(row) * cols;
    const int begin = blockIdx.x * length;
    const int end = min(begin + length, cols);
    const float largest = row_max[row];
    const float log_sum = row_log[row];
    for (int i = begin + threadIdx.x; i < end; i += kThreads) {
        y[base + i] = x[base + i] - largest - log_sum;
    }
}
