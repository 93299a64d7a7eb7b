// The same with several blocks a plane: four warps hold four output channels each, a lane a pixel,
// and step through tiles of 32 pixels. Each block leaves one partial sum a channel; a warp a plane
// adds them in a kernel of its own.

#include "fused_activations.cuh"
#include "warp_reduce.cuh"

constexpr int kKernel = 3;
constexpr int kTaps = kKernel * kKernel;
constexpr int kWarps = 4;
constexpr int kOwn = 4;
constexpr int kChannels = kWarps * kOwn;

__global__ void __launch_bounds__(32 * kWarps)
conv2d_gelu_partial(const float* __restrict__ x, const float* __restrict__ weight,
                    const float* __restrict__ bias, float* __restrict__ partial, int in_channels,
                    int height, int width, int out_channels, int out_height, int out_width) {
    extern __shared__ float filters[];  // in_channels x kTaps x kChannels

    const int lane = threadIdx.x;
    const int warp = threadIdx.y;
    const int first_channel = blockIdx.y * kChannels;
    const int terms = in_channels * kTaps;
    for (int i = warp * 32 + lane; i < terms * kChannels; i += 32 * kWarps) {
        const int channel = first_channel + i % kChannels;
        filters[i] = channel < out_channels ? weight[channel * terms + i / kChannels] : 0.0f;
    }
    __syncthreads();

    const int pixels = out_height * out_width;
    const int plane = height * width;
    const float* image = x + static_cast<long long>(blockIdx.z) * in_channels * plane;
    float sums[kOwn] = {};
    for (int pixel = blockIdx.x * 32 + lane; pixel < pixels; pixel += gridDim.x * 32) {
        const float* corner = image + pixel / out_width * width + pixel % out_width;
        const float* factors = filters + warp * kOwn;
        float acc[kOwn] = {};
        for (int c = 0; c < in_channels; ++c) {
#pragma unroll
            for (int t = 0; t < kTaps; ++t) {
                const float value = corner[t / kKernel * width + t % kKernel];
#pragma unroll
                for (int o = 0; o < kOwn; ++o) {
                    acc[o] += value * factors[o];
                }
                factors += kChannels;
            }
            corner += plane;
        }
        for (int o = 0; o < kOwn; ++o) {
            const int channel = min(first_channel + warp * kOwn + o, out_channels - 1);
            float value = acc[o] + bias[channel];
            value = gelu_erf(value);
            sums[o] += value;
        }
    }

    for (int o = 0; o < kOwn; ++o) {
        const float sum = warp_sum(sums[o]);
        const int channel = first_channel + warp * kOwn + o;
        if (lane == 0 && channel < out_channels) {
            partial[(blockIdx.z * out_channels + channel) * gridDim.x + blockIdx.x] = sum;
        }
    }
}

__global__ void mean_of_partials(const float* __restrict__ partial, float* __restrict__ y,
                                 int planes, int parts, int pixels) {
    const int plane = blockIdx.x * blockDim.y + threadIdx.y;
    if (plane >= planes) {
        return;
    }
    float sum = 0.0f;
    for (int part = threadIdx.x; part < parts; part += 32) {
        sum += partial[plane * parts + part];
    }
    sum = warp_sum(sum);
    if (threadIdx.x == 0) {
        y[plane] = sum / pixels;
    }
}
