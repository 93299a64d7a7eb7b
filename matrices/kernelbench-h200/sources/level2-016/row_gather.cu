// 3 x 3 transposed convolution of stride 2, padding 1, output padding 1, then Mish, a number added,
// hardtanh, scaled. A warp has 32 columns of one output row, so which rows of taps reach it is the
// same for all its lanes; a thread keeps four channels.

#include "fused_activations.cuh"

constexpr int kKernel = 3;
constexpr int kTaps = kKernel * kKernel;
constexpr int kCols = 32;
constexpr int kRows = 4;
constexpr int kChannels = 4;
constexpr int kStage = 4;
constexpr int kThreads = kCols * kRows;

__global__ void __launch_bounds__(kThreads)
deconv_rows_mish_hardtanh(const float* __restrict__ x, const float* __restrict__ weight,
                          const float* __restrict__ bias, float* __restrict__ y, int in_channels,
                          int height, int width, int out_channels, int out_height, int out_width,
                          float add_value, float scale) {
    __shared__ float taps[kStage][kTaps][kChannels];

    const int tid = threadIdx.y * kCols + threadIdx.x;
    const int row = blockIdx.y * kRows + threadIdx.y;
    const int col = blockIdx.x * kCols + threadIdx.x;
    const int channel_blocks = (out_channels + kChannels - 1) / kChannels;
    const long long image = blockIdx.z / channel_blocks;
    const int first_channel = blockIdx.z % channel_blocks * kChannels;
    const float* planes = x + image * in_channels * height * width;

    float acc[kChannels] = {};
    for (int c0 = 0; c0 < in_channels; c0 += kStage) {
        for (int i = tid; i < kStage * kTaps * kChannels; i += kThreads) {
            const int c = i / (kTaps * kChannels);
            const int tap = i / kChannels % kTaps;
            const int o = i % kChannels;
            const bool inside = c0 + c < in_channels && first_channel + o < out_channels;
            taps[c][tap][o] =
                inside ? weight[((c0 + c) * out_channels + first_channel + o) * kTaps + tap]
                       : 0.0f;
        }
        __syncthreads();

        const int staged = min(kStage, in_channels - c0);
        // Odd outputs meet taps 0 and 2, even ones tap 1 alone.
        for (int i = (row + 1) % 2; i < kKernel; i += 2) {
            const int from_row = (row + 1 - i) / 2;
            if (from_row >= height) {
                continue;
            }
            for (int j = (col + 1) % 2; j < kKernel; j += 2) {
                const int from_col = (col + 1 - j) / 2;
                if (from_col >= width) {
                    continue;
                }
                for (int c = 0; c < staged; ++c) {
                    const long long plane = static_cast<long long>(c0 + c) * height * width;
                    const float value = planes[plane + from_row * width + from_col];
#pragma unroll
                    for (int o = 0; o < kChannels; ++o) {
                        acc[o] += value * taps[c][i * kKernel + j][o];
                    }
                }
            }
        }
        __syncthreads();
    }

    if (row >= out_height || col >= out_width) {
        return;
    }
#pragma unroll
    for (int o = 0; o < kChannels; ++o) {
        const int channel = first_channel + o;
        if (channel < out_channels) {
            float value = acc[o] + bias[channel];
            value = mish(value);
            value += add_value;
            value = clamp_to(value, -1.0f, 1.0f);
            value *= scale;
            y[((image * out_channels + channel) * out_height + row) * out_width + col] = value;
        }
    }
}
