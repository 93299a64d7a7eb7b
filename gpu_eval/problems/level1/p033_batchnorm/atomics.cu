// BatchNorm on the statistics of the batch: one block a plane adds its sum, then its squared
// deviations, to its channel's total as it finishes, so that the order of the images is the
// schedule's.

#include "warp_reduce.cuh"
#include "block_reduce.cuh"

constexpr int kThreads = 128;

__global__ void batchnorm_atomic_sum(const float* __restrict__ x, float* __restrict__ sums,
                                     int channels, int pixels) {
    __shared__ float warp_totals[kThreads / 32];

    const float* plane = x + static_cast<long long>(blockIdx.x) * pixels;
    float sum = 0.0f;
    for (int p = threadIdx.x; p < pixels; p += kThreads) {
        sum += plane[p];
    }
    sum = block_sum(sum, warp_totals);
    if (threadIdx.x == 0) {
        atomicAdd(&sums[blockIdx.x % channels], sum);
    }
}

__global__ void batchnorm_atomic_square(const float* __restrict__ x,
                                        const float* __restrict__ sums,
                                        float* __restrict__ squares, int channels, int pixels,
                                        float count) {
    __shared__ float warp_totals[kThreads / 32];

    const int channel = blockIdx.x % channels;
    const float* plane = x + static_cast<long long>(blockIdx.x) * pixels;
    const float mean = sums[channel] / count;
    float square = 0.0f;
    for (int p = threadIdx.x; p < pixels; p += kThreads) {
        const float deviation = plane[p] - mean;
        square += deviation * deviation;
    }
    square = block_sum(square, warp_totals);
    if (threadIdx.x == 0) {
        atomicAdd(&squares[channel], square);
    }
}

__global__ void batchnorm_atomic_apply(const float* __restrict__ x, const float* __restrict__ sums,
                                       const float* __restrict__ squares,
                                       const float* __restrict__ weight,
                                       const float* __restrict__ bias, float* __restrict__ y,
                                       int channels, int pixels, float count, float eps) {
    const int channel = blockIdx.x % channels;
    const long long base = static_cast<long long>(blockIdx.x) * pixels;
    const float mean = sums[channel] / count;
    const float rstd = rsqrtf(squares[channel] / count + eps);
    for (int p = threadIdx.x; p < pixels; p += kThreads) {
        y[base + p] = (x[base + p] - mean) * rstd * weight[channel] + bias[channel];
    }
}
