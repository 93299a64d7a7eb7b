// LayerNorm over the last n elements of each row, several blocks a row: partial sums, then
// partial squared deviations from the mean, then the normalisation. Partials travel through
// workspaces of rows x splits; every block adds them again in the same order.

#include "warp_reduce.cuh"

constexpr int kThreads = 128;
constexpr int kWarps = kThreads / 32;

__device__ __forceinline__ float block_sum(float value) {
    __shared__ float warp_totals[kWarps];
    const int lane = threadIdx.x % 32;
    const int warp = threadIdx.x / 32;
    value = warp_sum(value);
    if (lane == 0) {
        warp_totals[warp] = value;
    }
    __syncthreads();
    float total = 0.0f;
    for (int w = 0; w < kWarps; ++w) {
        total += warp_totals[w];
    }
    return total;
}

__device__ __forceinline__ float add_partials(const float* partial, int row, int splits) {
    float total = 0.0f;
    for (int s = 0; s < splits; ++s) {
        total += partial[row * splits + s];
    }
    return total;
}

__global__ void layernorm_partial_sum(const float* __restrict__ x, float* __restrict__ sums, int n,
                                      int length) {
    const int row = blockIdx.y;
    const int split = blockIdx.x;
    const int begin = split * length;
    const int end = min(begin + length, n);
    const float* row_in = x + static_cast<long long>(row) * n;

    float sum = 0.0f;
    for (int i = begin + threadIdx.x; i < end; i += kThreads) {
        sum += row_in[i];
    }
    sum = block_sum(sum);
    if (threadIdx.x == 0) {
        sums[row * gridDim.x + split] = sum;
    }
}

__global__ void layernorm_partial_square(const float* __restrict__ x,
                                         const float* __restrict__ sums,
                                         float* __restrict__ squares, int n, int length) {
    const int row = blockIdx.y;
    const int split = blockIdx.x;
    const int begin = split * length;
    const int end = min(begin + length, n);
    const float* row_in = x + static_cast<long long>(row) * n;
    const float mean = add_partials(sums, row, gridDim.x) / n;

    float square = 0.0f;
    for (int i = begin + threadIdx.x; i < end; i += kThreads) {
        const float deviation = row_in[i] - mean;
        square += deviation * deviation;
    }
    square = block_sum(square);
    if (threadIdx.x == 0) {
        squares[row * gridDim.x + split] = square;
    }
}

__global__ void layernorm_normalise(const float* __restrict__ x, const float* __restrict__ weight,
                                    const float* __restrict__ bias, const float* __restrict__ sums,
                                    const float* __restrict__ squares, float* __restrict__ y,
                                    int n, int length, float eps) {
    const int row = blockIdx.y;
    const int begin = blockIdx.x * length;
    const int end = min(begin + length, n);
    const float mean = add_partials(sums, row, gridDim.x) / n;
    const float variance = add_partials(squares, row, gridDim.x) / n;
    const float rstd = rsqrtf(variance + eps);
    const long long base = static_cast<long long>(row) * n;

    for (int i = begin + threadIdx.x; i < end; i += kThreads) {
        y[base + i] = (x[base + i] - mean) * rstd * weight[i] + bias[i];
    }
}
