// 3 x 3 convolution by Winograd's F(2 x 2, 3 x 3), a number subtracted, hard swish, the largest of
// each window of 2 x 2, Mish. What one transform back gives is just one window of the pooling, so
// it stays in the registers of its thread. The filters are transformed once, by a kernel of their
// own.

#include "conv_winograd.cuh"
#include "fused_activations.cuh"
#include "limits.cuh"
#include "pool_nan.cuh"

constexpr int kTaps = 9;
constexpr int kPoints = 16;
constexpr int kPool = 2;
constexpr int kSide = 8;
constexpr int kChannels = 2;
constexpr int kThreads = kSide * kSide;

__global__ void transform_filters(const float* __restrict__ weight, float* __restrict__ transformed,
                                  int filters) {
    const int filter = blockIdx.x * blockDim.x + threadIdx.x;
    if (filter < filters) {
        winograd_filter(weight + filter * kTaps, transformed + filter * kPoints);
    }
}

__global__ void __launch_bounds__(kThreads)
winograd_hardswish_max_mish(const float* __restrict__ x, const float* __restrict__ transformed,
                            const float* __restrict__ bias, float* __restrict__ y,
                            int in_channels, int height, int width, int out_channels,
                            int pool_height, int pool_width, float subtract_value) {
    __shared__ float filters[kChannels][kPoints];

    const int tid = threadIdx.y * kSide + threadIdx.x;
    const int groups = (out_channels + kChannels - 1) / kChannels;
    const int image = blockIdx.z / groups;
    const int first_channel = blockIdx.z % groups * kChannels;
    const int row = blockIdx.y * kSide + threadIdx.y;
    const int col = blockIdx.x * kSide + threadIdx.x;
    const bool inside = row < pool_height && col < pool_width;

    float products[kChannels][kPoints] = {};
    for (int c = 0; c < in_channels; ++c) {
        if (tid < kChannels * kPoints) {
            const int channel = min(first_channel + tid / kPoints, out_channels - 1);
            filters[tid / kPoints][tid % kPoints] =
                transformed[(channel * in_channels + c) * kPoints + tid % kPoints];
        }
        __syncthreads();
        if (inside) {
            const long long plane = static_cast<long long>(image) * in_channels + c;
            const float* corner = x + (plane * height + row * kPool) * width + col * kPool;
            float patch[4][4];
            for (int i = 0; i < 4; ++i) {
                for (int j = 0; j < 4; ++j) {
                    patch[i][j] = corner[i * width + j];
                }
            }
            winograd_input(patch);
#pragma unroll
            for (int p = 0; p < kPoints; ++p) {
                for (int o = 0; o < kChannels; ++o) {
                    products[o][p] += patch[p / 4][p % 4] * filters[o][p];
                }
            }
        }
        __syncthreads();
    }
    if (!inside) {
        return;
    }

    for (int o = 0; o < kChannels && first_channel + o < out_channels; ++o) {
        const int channel = first_channel + o;
        float window[kPool][kPool];
        winograd_output(products[o], window);
        float largest = -INFINITY;
        for (int i = 0; i < kPool; ++i) {
            for (int j = 0; j < kPool; ++j) {
                float value = window[i][j] + bias[channel];
                value -= subtract_value;
                value = hardswish(value);
                largest = nan_max(largest, value);
            }
        }
        const long long plane = static_cast<long long>(image) * out_channels + channel;
        y[(plane * pool_height + row) * pool_width + col] = mish(largest);
    }
}
