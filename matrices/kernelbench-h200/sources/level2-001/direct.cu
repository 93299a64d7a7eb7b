// 3 x 3 convolution with ReLU and a bias after it: a block makes 8 x 16 outputs of four channels.
// Each input plane is staged with its halo, together with the four kernels that meet it; a thread
// holds one output of every channel.

#include "conv_stage.cuh"
#include "fused_activations.cuh"

constexpr int kKernel = 3;
constexpr int kTaps = kKernel * kKernel;
constexpr int kTileH = 8;
constexpr int kTileW = 16;
constexpr int kRows = kTileH + kKernel - 1;
constexpr int kCols = kTileW + kKernel - 1;
constexpr int kChannels = 4;
constexpr int kThreads = kTileH * kTileW;

__global__ void __launch_bounds__(kThreads)
conv2d_relu_bias(const float* __restrict__ x, const float* __restrict__ weight,
                 const float* __restrict__ bias, const float* __restrict__ channel_bias,
                 float* __restrict__ y, int in_channels, int height, int width, int out_channels,
                 int out_height, int out_width) {
    __shared__ float plane[kRows * kCols];
    __shared__ float taps[kChannels * kTaps];

    const int tid = threadIdx.y * kTileW + threadIdx.x;
    const int groups = (out_channels + kChannels - 1) / kChannels;
    const int image = blockIdx.z / groups;
    const int first_channel = blockIdx.z % groups * kChannels;
    const int first_row = blockIdx.y * kTileH;
    const int first_col = blockIdx.x * kTileW;
    const long long pixels = static_cast<long long>(height) * width;

    float acc[kChannels] = {};
    for (int c = 0; c < in_channels; ++c) {
        stage_plane(plane, kRows, kCols, x + (image * in_channels + c) * pixels, first_row,
                    first_col, height, width, tid, kThreads);
        if (tid < kChannels * kTaps) {
            // Channels beyond the last take the last one's weights and are not stored.
            const int channel = min(first_channel + tid / kTaps, out_channels - 1);
            taps[tid] = weight[(channel * in_channels + c) * kTaps + tid % kTaps];
        }
        __syncthreads();

        for (int r = 0; r < kKernel; ++r) {
            for (int s = 0; s < kKernel; ++s) {
                const float value = plane[(threadIdx.y + r) * kCols + threadIdx.x + s];
#pragma unroll
                for (int o = 0; o < kChannels; ++o) {
                    acc[o] += value * taps[o * kTaps + r * kKernel + s];
                }
            }
        }
        __syncthreads();
    }

    const int row = first_row + threadIdx.y;
    const int col = first_col + threadIdx.x;
    if (row >= out_height || col >= out_width) {
        return;
    }
    for (int o = 0; o < kChannels && first_channel + o < out_channels; ++o) {
        const int channel = first_channel + o;
        float value = acc[o] + bias[channel];
        value = relu(value);
        value += channel_bias[channel];
        const long long plane_out = static_cast<long long>(image) * out_channels + channel;
        y[(plane_out * out_height + row) * out_width + col] = value;
    }
}
