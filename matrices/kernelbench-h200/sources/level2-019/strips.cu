// 3 x 3 transposed convolution of stride 1, GELU, GroupNorm in three launches. A thread of the
// first makes a strip of four outputs of a row, sliding a window of six inputs over the taps, for
// two channels; the second finds the moments of a group by Welford's way, the third applies them.

#include "fused_activations.cuh"
#include "welford.cuh"
#include "norm_block_moments.cuh"

constexpr int kKernel = 3;
constexpr int kHalo = kKernel - 1;
constexpr int kStrip = 4;
constexpr int kStrips = 4;
constexpr int kTileH = 16;
constexpr int kTileW = kStrip * kStrips;
constexpr int kRows = kTileH + kHalo;
constexpr int kCols = kTileW + kHalo;
constexpr int kChannels = 2;
constexpr int kTaps = kKernel * kKernel;
constexpr int kThreads = kTileH * kStrips;
constexpr int kNormThreads = 128;

__global__ void __launch_bounds__(kThreads)
deconv_strips_gelu(const float* __restrict__ x, const float* __restrict__ weight,
                   const float* __restrict__ bias, float* __restrict__ hidden, int in_channels,
                   int height, int width, int out_channels, int out_height, int out_width) {
    __shared__ float patch[kRows][kCols];
    __shared__ float taps[kChannels][kTaps];

    const int tid = threadIdx.y * kStrips + threadIdx.x;
    const int pairs = (out_channels + kChannels - 1) / kChannels;
    const int image = blockIdx.z / pairs;
    const int first_channel = blockIdx.z % pairs * kChannels;
    const int first_row = blockIdx.y * kTileH;
    const int first_col = blockIdx.x * kTileW;

    float acc[kChannels][kStrip] = {};
    for (int c = 0; c < in_channels; ++c) {
        const float* plane =
            x + (static_cast<long long>(image) * in_channels + c) * height * width;
        for (int i = tid; i < kRows * kCols; i += kThreads) {
            const int row = first_row - kHalo + i / kCols;
            const int col = first_col - kHalo + i % kCols;
            const bool inside = row >= 0 && row < height && col >= 0 && col < width;
            patch[i / kCols][i % kCols] = inside ? plane[row * width + col] : 0.0f;
        }
        if (tid < kChannels * kTaps) {
            const int channel = min(first_channel + tid / kTaps, out_channels - 1);
            taps[tid / kTaps][tid % kTaps] =
                weight[(c * out_channels + channel) * kTaps + tid % kTaps];
        }
        __syncthreads();

        for (int i = 0; i < kKernel; ++i) {
            float window[kStrip + kHalo];
#pragma unroll
            for (int q = 0; q < kStrip + kHalo; ++q) {
                window[q] = patch[threadIdx.y + kHalo - i][threadIdx.x * kStrip + q];
            }
#pragma unroll
            for (int j = 0; j < kKernel; ++j) {
#pragma unroll
                for (int o = 0; o < kChannels; ++o) {
#pragma unroll
                    for (int q = 0; q < kStrip; ++q) {
                        acc[o][q] += window[q + kHalo - j] * taps[o][i * kKernel + j];
                    }
                }
            }
        }
        __syncthreads();
    }

    const int row = first_row + threadIdx.y;
    if (row >= out_height) {
        return;
    }
    for (int o = 0; o < kChannels && first_channel + o < out_channels; ++o) {
        const int channel = first_channel + o;
        const long long plane = static_cast<long long>(image) * out_channels + channel;
        float* out = hidden + (plane * out_height + row) * out_width;
        for (int q = 0; q < kStrip; ++q) {
            const int col = first_col + threadIdx.x * kStrip + q;
            if (col < out_width) {
                float value = acc[o][q] + bias[channel];
                value = gelu_erf(value);
                out[col] = value;
            }
        }
    }
}

__global__ void __launch_bounds__(kNormThreads)
group_moments(const float* __restrict__ hidden, float* __restrict__ means,
              float* __restrict__ inverses, int elements, float eps) {
    __shared__ Moments warp_moments[kNormThreads / 32];

    const float* group = hidden + static_cast<long long>(blockIdx.x) * elements;
    Moments own = {0.0f, 0.0f, 0.0f};
    for (int i = threadIdx.x; i < elements; i += kNormThreads) {
        welford_push(own, group[i]);
    }
    const Moments whole = welford_block(own, warp_moments);
    if (threadIdx.x == 0) {
        means[blockIdx.x] = whole.mean;
        inverses[blockIdx.x] = rsqrtf(whole.m2 / whole.count + eps);
    }
}

__global__ void group_apply(const float* __restrict__ hidden, const float* __restrict__ means,
                            const float* __restrict__ inverses,
                            const float* __restrict__ norm_weight,
                            const float* __restrict__ norm_bias, float* __restrict__ y,
                            int out_channels, int group_width, int pixels) {
    const int channel = blockIdx.y;
    const int group = blockIdx.z * (out_channels / group_width) + channel / group_width;
    const long long first = (static_cast<long long>(blockIdx.z) * out_channels + channel) * pixels;
    const int step = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < pixels; i += step) {
        float value = (hidden[first + i] - means[group]) * inverses[group];
        value = value * norm_weight[channel] + norm_bias[channel];
        y[first + i] = value;
    }
}
