// 3 x 3 transposed convolution of stride 2 that doubles an image, with its chain of clamps. A
// thread makes the 2 x 2 outputs that begin at one input pixel, for two channels: they need that
// pixel, its right and lower neighbours, and each of the nine taps once.

#include "conv_stage.cuh"
#include "deconv_quad.cuh"
#include "fused_activations.cuh"

constexpr int kTaps = 9;
constexpr int kTileH = 8;
constexpr int kTileW = 16;
constexpr int kRows = kTileH + 1;
constexpr int kCols = kTileW + 1;
constexpr int kChannels = 2;
constexpr int kThreads = kTileH * kTileW;

__global__ void __launch_bounds__(kThreads)
deconv_quads_clamped(const float* __restrict__ x, const float* __restrict__ weight,
                     const float* __restrict__ bias, const float* __restrict__ channel_bias,
                     float* __restrict__ y, int in_channels, int height, int width,
                     int out_channels, float scaling) {
    __shared__ float plane[kRows * kCols];
    __shared__ float taps[kChannels][kTaps];

    const int tid = threadIdx.y * kTileW + threadIdx.x;
    const int pairs = (out_channels + kChannels - 1) / kChannels;
    const int image = blockIdx.z / pairs;
    const int first_channel = blockIdx.z % pairs * kChannels;
    const int first_row = blockIdx.y * kTileH;
    const int first_col = blockIdx.x * kTileW;

    float acc[kChannels][4] = {};
    for (int c = 0; c < in_channels; ++c) {
        const long long place = static_cast<long long>(image) * in_channels + c;
        stage_plane(plane, kRows, kCols, x + place * height * width, first_row, first_col, height,
                    width, tid, kThreads);
        if (tid < kChannels * kTaps) {
            // The last channel's weights stand in for those of a channel that does not exist.
            const int channel = min(first_channel + tid / kTaps, out_channels - 1);
            taps[tid / kTaps][tid % kTaps] =
                weight[(c * out_channels + channel) * kTaps + tid % kTaps];
        }
        __syncthreads();

        const float* corner = plane + threadIdx.y * kCols + threadIdx.x;
        const float here = corner[0];
        const float right = corner[1];
        const float below = corner[kCols];
        const float across = corner[kCols + 1];
#pragma unroll
        for (int o = 0; o < kChannels; ++o) {
            quad_add(acc[o], here, right, below, across, taps[o]);
        }
        __syncthreads();
    }

    const int row = first_row + threadIdx.y;
    const int col = first_col + threadIdx.x;
    if (row >= height || col >= width) {
        return;
    }
    for (int o = 0; o < kChannels && first_channel + o < out_channels; ++o) {
        const int channel = first_channel + o;
        const long long plane_out = static_cast<long long>(image) * out_channels + channel;
        float* quad = y + (plane_out * 2 * height + 2 * row) * 2 * width + 2 * col;
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            float value = acc[o][i] + bias[channel];
            value += channel_bias[channel];
            value = clamp_to(value, 0.0f, 1.0f);
            value *= scaling;
            value = clamp_to(value, 0.0f, 1.0f);
            value /= scaling;
            quad[i / 2 * 2 * width + i % 2] = value;
        }
    }
}
