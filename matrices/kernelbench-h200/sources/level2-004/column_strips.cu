// 3 x 3 convolution with Mish twice after it. 16 x 4 threads make 16 x 16 outputs of four channels;
// a thread has a strip of four rows in one column, so that each of six inputs down a column serves
// up to three outputs. Four planes of the input are staged at a time.

#include "fused_activations.cuh"

constexpr int kKernel = 3;
constexpr int kTaps = kKernel * kKernel;
constexpr int kTile = 16;
constexpr int kHalo = kTile + kKernel - 1;
constexpr int kStrip = 4;
constexpr int kReach = kStrip + kKernel - 1;
constexpr int kChannels = 4;
constexpr int kPlanes = 4;
constexpr int kThreads = kTile * (kTile / kStrip);

__global__ void __launch_bounds__(kThreads)
conv2d_mish_mish(const float* __restrict__ x, const float* __restrict__ weight,
                 const float* __restrict__ bias, float* __restrict__ y, int in_channels,
                 int height, int width, int out_channels, int out_height, int out_width) {
    __shared__ float window[kPlanes][kHalo][kHalo];
    __shared__ float taps[kChannels][kPlanes][kTaps];

    const int tid = threadIdx.y * kTile + threadIdx.x;
    const int groups = (out_channels + kChannels - 1) / kChannels;
    const long long image = blockIdx.z / groups;
    const int first_channel = blockIdx.z % groups * kChannels;
    const int first_row = blockIdx.y * kTile;
    const int first_col = blockIdx.x * kTile;

    float acc[kChannels][kStrip] = {};
    for (int c0 = 0; c0 < in_channels; c0 += kPlanes) {
        const int planes = min(kPlanes, in_channels - c0);
        for (int i = tid; i < planes * kHalo * kHalo; i += kThreads) {
            const int plane = i / (kHalo * kHalo);
            const int row = first_row + i / kHalo % kHalo;
            const int col = first_col + i % kHalo;
            float value = 0.0f;
            if (row < height && col < width) {
                value = x[((image * in_channels + c0 + plane) * height + row) * width + col];
            }
            window[plane][i / kHalo % kHalo][i % kHalo] = value;
        }
        for (int i = tid; i < kChannels * planes * kTaps; i += kThreads) {
            const int o = i / (planes * kTaps);
            const int t = i % (planes * kTaps);
            if (first_channel + o < out_channels) {
                taps[o][t / kTaps][t % kTaps] =
                    weight[((first_channel + o) * in_channels + c0) * kTaps + t];
            }
        }
        __syncthreads();

        for (int plane = 0; plane < planes; ++plane) {
#pragma unroll
            for (int s = 0; s < kKernel; ++s) {
                float column[kReach];
#pragma unroll
                for (int i = 0; i < kReach; ++i) {
                    column[i] = window[plane][threadIdx.y * kStrip + i][threadIdx.x + s];
                }
                for (int o = 0; o < kChannels; ++o) {
#pragma unroll
                    for (int r = 0; r < kKernel; ++r) {
                        const float factor = taps[o][plane][r * kKernel + s];
#pragma unroll
                        for (int i = 0; i < kStrip; ++i) {
                            acc[o][i] += column[i + r] * factor;
                        }
                    }
                }
            }
        }
        __syncthreads();
    }

    const int col = first_col + threadIdx.x;
    if (col >= out_width) {
        return;
    }
    for (int o = 0; o < kChannels && first_channel + o < out_channels; ++o) {
        const int channel = first_channel + o;
        for (int i = 0; i < kStrip; ++i) {
            const int row = first_row + threadIdx.y * kStrip + i;
            if (row < out_height) {
                float value = acc[o][i] + bias[channel];
                value = mish(value);
                value = mish(value);
                y[((image * out_channels + channel) * out_height + row) * out_width + col] = value;
            }
        }
    }
}
