// 3 x 3 x 3 convolution; LeakyReLU, a summand a channel, bounds and GELU before anything is
// stored. A thread makes 2 x 4 outputs of one layer and channel from a window of 4 x 6 inputs in
// registers; the eight channels of a block share what the cache holds. Only weights are staged.

#include "fused_activations.cuh"

constexpr int kKernel = 3;
constexpr int kArea = kKernel * kKernel;
constexpr int kTaps = kKernel * kArea;
constexpr int kChannels = 8;
constexpr int kRows = 2;
constexpr int kCols = 4;
constexpr int kWindowRows = kRows + kKernel - 1;
constexpr int kWindowCols = kCols + kKernel - 1;
constexpr int kAcross = 2;
constexpr int kDown = 4;
constexpr int kThreads = kAcross * kDown * kChannels;

__global__ void __launch_bounds__(kThreads)
conv3d_leaky_add_clamp_gelu(const float* __restrict__ x, const float* __restrict__ weight,
                            const float* __restrict__ bias, const float* __restrict__ summand,
                            float* __restrict__ y, int in_channels, int depth, int height,
                            int width, int out_channels, int out_depth, int out_height,
                            int out_width, float slope, float low, float high) {
    extern __shared__ float filters[];  // kChannels x in_channels x kTaps

    const int groups = (out_channels + kChannels - 1) / kChannels;
    const int layer = blockIdx.z % out_depth;
    const int first_channel = blockIdx.z / out_depth % groups * kChannels;
    const long long image = blockIdx.z / out_depth / groups;
    const int channel = first_channel + threadIdx.z;

    const int terms = in_channels * kTaps;
    const int tid = (threadIdx.z * kDown + threadIdx.y) * kAcross + threadIdx.x;
    const int present = min(kChannels, out_channels - first_channel) * terms;
    for (int i = tid; i < present; i += kThreads) {
        filters[i] = weight[first_channel * terms + i];
    }
    __syncthreads();

    const int row = (blockIdx.y * kDown + threadIdx.y) * kRows;
    const int col = (blockIdx.x * kAcross + threadIdx.x) * kCols;
    if (channel >= out_channels || row >= out_height || col >= out_width) {
        return;
    }

    float acc[kRows][kCols] = {};
    const float* filter = filters + threadIdx.z * terms;
    for (int c = 0; c < in_channels; ++c) {
        for (int i = 0; i < kKernel; ++i, filter += kArea) {
            const float* plane =
                x + ((image * in_channels + c) * depth + layer + i) * height * width;
            float window[kWindowRows][kWindowCols];
#pragma unroll
            for (int r = 0; r < kWindowRows; ++r) {
                // Beyond the last row or column that one is read again, for outputs not stored.
                const float* line = plane + min(row + r, height - 1) * width;
#pragma unroll
                for (int s = 0; s < kWindowCols; ++s) {
                    window[r][s] = line[min(col + s, width - 1)];
                }
            }
#pragma unroll
            for (int t = 0; t < kArea; ++t) {
                const float factor = filter[t];
#pragma unroll
                for (int r = 0; r < kRows; ++r) {
#pragma unroll
                    for (int s = 0; s < kCols; ++s) {
                        acc[r][s] += window[r + t / kKernel][s + t % kKernel] * factor;
                    }
                }
            }
        }
    }

    const long long volume = (image * out_channels + channel) * out_depth + layer;
    for (int r = 0; r < kRows && row + r < out_height; ++r) {
        float* line = y + (volume * out_height + row + r) * out_width;
        for (int s = 0; s < kCols && col + s < out_width; ++s) {
            float value = acc[r][s] + bias[channel];
            value = leaky_relu(value, slope);
            value += summand[channel];
            value = clamp_to(value, low, high);
            value = gelu_erf(value);
            line[col + s] = value;
        }
    }
}
