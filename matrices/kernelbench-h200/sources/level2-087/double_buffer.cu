// 3 x 3 convolution, two subtractions, Mish: 8 x 8 threads make 16 x 16 outputs of two channels, a
// thread 2 x 2 of each. While one plane of the input is worked on, the next is staged into the
// other buffer, so that one barrier a plane is enough.

#include "conv_stage.cuh"
#include "fused_activations.cuh"

constexpr int kKernel = 3;
constexpr int kTaps = kKernel * kKernel;
constexpr int kSide = 8;
constexpr int kPatch = 2;
constexpr int kTile = kSide * kPatch;
constexpr int kHalo = kTile + kKernel - 1;
constexpr int kWindow = kPatch + kKernel - 1;
constexpr int kChannels = 2;
constexpr int kThreads = kSide * kSide;

__global__ void __launch_bounds__(kThreads)
conv2d_subtract_mish(const float* __restrict__ x, const float* __restrict__ weight,
                     const float* __restrict__ bias, float* __restrict__ y, int in_channels,
                     int height, int width, int out_channels, int out_height, int out_width,
                     float first_value, float second_value) {
    __shared__ float planes[2][kHalo * kHalo];
    __shared__ float taps[2][kChannels * kTaps];

    const int tid = threadIdx.y * kSide + threadIdx.x;
    const int groups = (out_channels + kChannels - 1) / kChannels;
    const int image = blockIdx.z / groups;
    const int first_channel = blockIdx.z % groups * kChannels;
    const int first_row = blockIdx.y * kTile;
    const int first_col = blockIdx.x * kTile;
    const long long pixels = static_cast<long long>(height) * width;
    const float* planes_of_image = x + image * in_channels * pixels;

    auto stage = [&](int c) {
        stage_plane(planes[c % 2], kHalo, kHalo, planes_of_image + c * pixels, first_row, first_col,
                    height, width, tid, kThreads);
        if (tid < kChannels * kTaps) {
            const int channel = first_channel + tid / kTaps;
            taps[c % 2][tid] = channel < out_channels
                                   ? weight[(channel * in_channels + c) * kTaps + tid % kTaps]
                                   : 0.0f;
        }
    };

    float acc[kChannels][kPatch][kPatch] = {};
    stage(0);
    for (int c = 0; c < in_channels; ++c) {
        __syncthreads();
        if (c + 1 < in_channels) {
            stage(c + 1);
        }
        const float* plane = planes[c % 2];
        float window[kWindow][kWindow];
#pragma unroll
        for (int i = 0; i < kWindow; ++i) {
#pragma unroll
            for (int j = 0; j < kWindow; ++j) {
                window[i][j] =
                    plane[(threadIdx.y * kPatch + i) * kHalo + threadIdx.x * kPatch + j];
            }
        }
        for (int o = 0; o < kChannels; ++o) {
            for (int t = 0; t < kTaps; ++t) {
                const float factor = taps[c % 2][o * kTaps + t];
#pragma unroll
                for (int i = 0; i < kPatch; ++i) {
#pragma unroll
                    for (int j = 0; j < kPatch; ++j) {
                        acc[o][i][j] += window[i + t / kKernel][j + t % kKernel] * factor;
                    }
                }
            }
        }
    }

    for (int o = 0; o < kChannels && first_channel + o < out_channels; ++o) {
        const int channel = first_channel + o;
        const long long plane_out = static_cast<long long>(image) * out_channels + channel;
        for (int i = 0; i < kPatch; ++i) {
            const int row = first_row + threadIdx.y * kPatch + i;
            for (int j = 0; j < kPatch; ++j) {
                const int col = first_col + threadIdx.x * kPatch + j;
                if (row < out_height && col < out_width) {
                    float value = acc[o][i][j] + bias[channel];
                    value -= first_value;
                    value -= second_value;
                    value = mish(value);
                    y[(plane_out * out_height + row) * out_width + col] = value;
                }
            }
        }
    }
}
