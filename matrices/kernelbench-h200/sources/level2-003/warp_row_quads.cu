// 3 x 3 x 3 transposed convolution that doubles every axis, a number added, LayerNorm of the rows,
// averaged over windows of 2 x 2 x 2, GELU. The windows of one pooled row span four rows of the
// convolution, and these a warp makes for one channel: its lanes make an octet each, the rows wait
// in shared memory for their moments, and a lane only reads what it has written.

#include "deconv_octet.cuh"
#include "fused_activations.cuh"
#include "warp_reduce.cuh"

constexpr int kTaps = 27;
constexpr int kStage = 8;
constexpr int kChannels = 4;
constexpr int kRows = 4;
constexpr int kThreads = 32 * kChannels;

extern __shared__ float2 pairs[];

__global__ void __launch_bounds__(kThreads)
deconv_norm_average_gelu(const float* __restrict__ x, const float* __restrict__ weight,
                         const float* __restrict__ bias, const float* __restrict__ sum_weight,
                         const float* __restrict__ norm_weight,
                         const float* __restrict__ norm_bias, float* __restrict__ y,
                         int in_channels, int depth, int height, int width, int out_channels,
                         float eps) {
    __shared__ float taps[kStage][kChannels][kTaps];

    const int lane = threadIdx.x;
    const int warp = threadIdx.y;
    const int h = blockIdx.x;
    const int d = blockIdx.y;
    const int channel_blocks = (out_channels + kChannels - 1) / kChannels;
    const int image = blockIdx.z / channel_blocks;
    const int first_channel = blockIdx.z % channel_blocks * kChannels;
    const int channel = first_channel + warp;
    const int volume = depth * height * width;
    const float* inputs = x + static_cast<long long>(image) * in_channels * volume;
    float2* rows = pairs + warp * kRows * width;

    for (int w0 = 0; w0 < width; w0 += 32) {
        const int w = w0 + lane;
        float acc[8] = {};
        for (int c0 = 0; c0 < in_channels; c0 += kStage) {
            const int staged = min(kStage, in_channels - c0);
            for (int i = warp * 32 + lane; i < staged * kChannels * kTaps; i += kThreads) {
                const int c = i / (kChannels * kTaps);
                const int o = i / kTaps % kChannels;
                const bool exists = first_channel + o < out_channels;
                const int row = (c0 + c) * out_channels + first_channel + o;
                taps[c][o][i % kTaps] = exists ? weight[row * kTaps + i % kTaps] : 0.0f;
            }
            __syncthreads();
            for (int c = 0; c < staged; ++c) {
                float near[8];
                octet_load(near, inputs + (c0 + c) * volume, d, h, w, depth, height, width);
                octet_add(acc, near, taps[c][warp]);
            }
            __syncthreads();
        }
        if (w < width && channel < out_channels) {
#pragma unroll
            for (int r = 0; r < kRows; ++r) {
                float2 pair = make_float2(acc[2 * r] + bias[channel],
                                          acc[2 * r + 1] + bias[channel]);
                pair.x += sum_weight[0];
                pair.y += sum_weight[0];
                rows[r * width + w] = pair;
            }
        }
    }
    if (channel >= out_channels) {
        return;
    }

    float means[kRows];
    float inverses[kRows];
    for (int r = 0; r < kRows; ++r) {
        const float2* row = rows + r * width;
        float sum = 0.0f;
        for (int w = lane; w < width; w += 32) {
            sum += row[w].x + row[w].y;
        }
        means[r] = warp_sum(sum) / (2 * width);

        float squares = 0.0f;
        for (int w = lane; w < width; w += 32) {
            const float left = row[w].x - means[r];
            const float right = row[w].y - means[r];
            squares += left * left + right * right;
        }
        const float variance = warp_sum(squares) / (2 * width);
        inverses[r] = rsqrtf(variance + eps);
    }

    const long long plane = static_cast<long long>(image) * out_channels + channel;
    float* out = y + plane * volume + (d * height + h) * width;
    for (int w = lane; w < width; w += 32) {
        float sum = 0.0f;
        for (int r = 0; r < kRows; ++r) {
            float2 pair = rows[r * width + w];
            pair.x = (pair.x - means[r]) * inverses[r];
            pair.y = (pair.y - means[r]) * inverses[r];
            pair.x = pair.x * norm_weight[2 * w] + norm_bias[2 * w];
            pair.y = pair.y * norm_weight[2 * w + 1] + norm_bias[2 * w + 1];
            sum += pair.x + pair.y;
        }
        float value = sum / 8.0f;
        value = gelu_erf(value);
        out[w] = value;
    }
}
