// 4 x 4 x 4 transposed convolution of stride 2 and padding 1, LayerNorm of the rows, GELU, scaled.
// Every output meets two taps an axis. A block of the first kernel makes 16 x 16 outputs of one
// slice, four channels of them, from the two input slices that reach it; a thread takes 3 x 3
// inputs into registers and makes 2 x 2 outputs of each channel. A warp of the second has a row.

#include "fused_activations.cuh"
#include "welford.cuh"

constexpr int kSide = 8;
constexpr int kPatch = kSide + 2;
constexpr int kChannels = 4;
constexpr int kPlaneTaps = 16;
constexpr int kTaps = 64;
constexpr int kThreads = kSide * kSide;

__global__ void __launch_bounds__(kThreads)
deconv4_slices(const float* __restrict__ x, const float* __restrict__ weight,
               const float* __restrict__ bias, float* __restrict__ hidden, int in_channels,
               int depth, int height, int width, int out_channels) {
    __shared__ float patch[kPatch][kPatch + 1];
    __shared__ float taps[kChannels][kPlaneTaps];

    const int tx = threadIdx.x;
    const int ty = threadIdx.y;
    const int tid = ty * kSide + tx;
    const int tiles_w = (width + kSide - 1) / kSide;
    const int first_h = blockIdx.x / tiles_w * kSide;
    const int first_w = blockIdx.x % tiles_w * kSide;
    const int od = blockIdx.y;
    const int channel_blocks = (out_channels + kChannels - 1) / kChannels;
    const int image = blockIdx.z / channel_blocks;
    const int first_channel = blockIdx.z % channel_blocks * kChannels;
    const int area = height * width;

    float acc[kChannels][2][2] = {};
    for (int tap_d = (od + 1) % 2; tap_d < 4; tap_d += 2) {
        const int twice = od + 1 - tap_d;
        if (twice < 0 || twice / 2 >= depth) {
            continue;
        }
        for (int c = 0; c < in_channels; ++c) {
            const float* slice =
                x + ((static_cast<long long>(image) * in_channels + c) * depth + twice / 2) * area;
            for (int i = tid; i < kPatch * kPatch; i += kThreads) {
                const int h = first_h - 1 + i / kPatch;
                const int w = first_w - 1 + i % kPatch;
                const bool inside = h >= 0 && h < height && w >= 0 && w < width;
                patch[i / kPatch][i % kPatch] = inside ? slice[h * width + w] : 0.0f;
            }
            if (tid < kChannels * kPlaneTaps) {
                const int channel = first_channel + tid / kPlaneTaps;
                const int place = (c * out_channels + channel) * kTaps + tap_d * kPlaneTaps;
                taps[tid / kPlaneTaps][tid % kPlaneTaps] =
                    channel < out_channels ? weight[place + tid % kPlaneTaps] : 0.0f;
            }
            __syncthreads();

            float near[3][3];
#pragma unroll
            for (int i = 0; i < 3; ++i) {
#pragma unroll
                for (int j = 0; j < 3; ++j) {
                    near[i][j] = patch[ty + i][tx + j];
                }
            }
            // Output parity p meets tap 2 n + 1 - p of the input at 1 + p - n, n being 0 or 1.
#pragma unroll
            for (int o = 0; o < kChannels; ++o) {
#pragma unroll
                for (int n = 0; n < 16; ++n) {
                    const int ph = n >> 3;
                    const int pw = n >> 2 & 1;
                    const int nh = n >> 1 & 1;
                    const int nw = n & 1;
                    const int tap = (2 * nh + 1 - ph) * 4 + 2 * nw + 1 - pw;
                    acc[o][ph][pw] += near[1 + ph - nh][1 + pw - nw] * taps[o][tap];
                }
            }
            __syncthreads();
        }
    }

    const int h = first_h + ty;
    const int w = first_w + tx;
    if (h >= height || w >= width) {
        return;
    }
    for (int o = 0; o < kChannels && first_channel + o < out_channels; ++o) {
        const int channel = first_channel + o;
        const long long plane = static_cast<long long>(image) * out_channels + channel;
        float* slice = hidden + (plane * 2 * depth + od) * 4 * area;
        for (int ph = 0; ph < 2; ++ph) {
            float2 pair;
            pair.x = acc[o][ph][0] + bias[channel];
            pair.y = acc[o][ph][1] + bias[channel];
            // Rows are 2 width long, so that pairs are aligned.
            *reinterpret_cast<float2*>(slice + (2 * h + ph) * 2 * width + 2 * w) = pair;
        }
    }
}

__global__ void layer_norm_gelu_scale(const float* __restrict__ hidden,
                                      const float* __restrict__ norm_weight,
                                      const float* __restrict__ norm_bias, float* __restrict__ y,
                                      int rows, int out_width, float eps, float scaling_factor) {
    const int lane = threadIdx.x;
    const int row = blockIdx.x * blockDim.y + threadIdx.y;
    if (row >= rows) {
        return;
    }
    const long long first = static_cast<long long>(row) * out_width;

    Moments own = {0.0f, 0.0f, 0.0f};
    for (int i = lane; i < out_width; i += 32) {
        welford_push(own, hidden[first + i]);
    }
    own = welford_warp(own);
    const float mean = __shfl_sync(0xffffffffu, own.mean, 0);
    const float squares = __shfl_sync(0xffffffffu, own.m2, 0);
    const float inverse = rsqrtf(squares / out_width + eps);

    for (int i = lane; i < out_width; i += 32) {
        float value = (hidden[first + i] - mean) * inverse;
        value = value * norm_weight[i] + norm_bias[i];
        value = gelu_erf(value);
        value *= scaling_factor;
        y[first + i] = value;
    }
}
