// 3 x 3 convolution, BatchNorm with the statistics of the batch, a factor. A thread makes one pixel
// of six output channels; a block a plane then sums it and its squared deviations, and the last
// kernel merges the planes of its channel before it standardises: sums of squares between planes
// and within them, so that nothing cancels.

#include "warp_reduce.cuh"
#include "block_reduce.cuh"

constexpr int kKernel = 3;
constexpr int kTaps = kKernel * kKernel;
constexpr int kThreads = 64;
constexpr int kChannels = 6;
constexpr int kWarps = 2;

__global__ void __launch_bounds__(kThreads)
conv2d_channels(const float* __restrict__ x, const float* __restrict__ weight,
                const float* __restrict__ bias, float* __restrict__ hidden, int in_channels,
                int height, int width, int out_channels, int out_height, int out_width) {
    extern __shared__ float filters[];  // in_channels x kTaps x kChannels

    const int terms = in_channels * kTaps;
    const int first_channel = blockIdx.y * kChannels;
    for (int i = threadIdx.x; i < terms * kChannels; i += kThreads) {
        const int channel = min(first_channel + i % kChannels, out_channels - 1);
        filters[i] = weight[channel * terms + i / kChannels];
    }
    __syncthreads();

    const int pixels = out_height * out_width;
    const int pixel = blockIdx.x * kThreads + threadIdx.x;
    if (pixel >= pixels) {
        return;
    }
    const int row = pixel / out_width;
    const int col = pixel - row * out_width;

    float acc[kChannels];
    for (int o = 0; o < kChannels; ++o) {
        acc[o] = bias[min(first_channel + o, out_channels - 1)];
    }
    for (int k = 0; k < terms; ++k) {
        const int c = k / kTaps;
        const int tap = k - c * kTaps;
        const long long line =
            (static_cast<long long>(blockIdx.z) * in_channels + c) * height + row + tap / kKernel;
        const float value = x[line * width + col + tap % kKernel];
#pragma unroll
        for (int o = 0; o < kChannels; ++o) {
            acc[o] += value * filters[k * kChannels + o];
        }
    }
    for (int o = 0; o < kChannels && first_channel + o < out_channels; ++o) {
        const int channel = first_channel + o;
        const long long plane = static_cast<long long>(blockIdx.z) * out_channels + channel;
        hidden[plane * pixels + pixel] = acc[o];
    }
}

__global__ void __launch_bounds__(32 * kWarps)
plane_moments(const float* __restrict__ hidden, float* __restrict__ means,
              float* __restrict__ squares, int pixels) {
    __shared__ float warp_totals[kWarps];

    const float* plane = hidden + static_cast<long long>(blockIdx.x) * pixels;
    float sum = 0.0f;
    for (int i = threadIdx.x; i < pixels; i += blockDim.x) {
        sum += plane[i];
    }
    const float mean = block_sum(sum, warp_totals) / pixels;
    float squared = 0.0f;
    for (int i = threadIdx.x; i < pixels; i += blockDim.x) {
        const float deviation = plane[i] - mean;
        squared += deviation * deviation;
    }
    squared = block_sum(squared, warp_totals);
    if (threadIdx.x == 0) {
        means[blockIdx.x] = mean;
        squares[blockIdx.x] = squared;
    }
}

__global__ void __launch_bounds__(32 * kWarps)
batch_norm_scale(const float* __restrict__ hidden, const float* __restrict__ means,
                 const float* __restrict__ squares, const float* __restrict__ norm_weight,
                 const float* __restrict__ norm_bias, float* __restrict__ y, int batch,
                 int out_channels, int pixels, float eps, float scaling_factor) {
    __shared__ float warp_totals[kWarps];

    const int channel = blockIdx.x % out_channels;
    float sum = 0.0f;
    for (int image = threadIdx.x; image < batch; image += blockDim.x) {
        sum += means[image * out_channels + channel];
    }
    const float mean = block_sum(sum, warp_totals) / batch;

    float within = 0.0f;
    float between = 0.0f;
    for (int image = threadIdx.x; image < batch; image += blockDim.x) {
        const float deviation = means[image * out_channels + channel] - mean;
        within += squares[image * out_channels + channel];
        between += deviation * deviation;
    }
    within = block_sum(within, warp_totals);
    between = block_sum(between, warp_totals);
    const float variance = (within / pixels + between) / batch;
    const float inverse = 1.0f / sqrtf(variance + eps);

    const long long first = static_cast<long long>(blockIdx.x) * pixels;
    for (int i = threadIdx.x; i < pixels; i += blockDim.x) {
        float value = (hidden[first + i] - mean) * inverse;
        value = value * norm_weight[channel] + norm_bias[channel];
        value *= scaling_factor;
        y[first + i] = value;
    }
}
