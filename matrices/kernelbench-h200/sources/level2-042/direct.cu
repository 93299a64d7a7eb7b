// 3 x 3 transposed convolution, averaged as it is made: a block a plane of outputs, whose threads
// gather the products that reach their outputs and add them; then a warp an image for biases and
// logsumexp, each lane with a running maximum and sum that merge by shuffles.

#include "warp_reduce.cuh"
#include "block_reduce.cuh"
#include "limits.cuh"

constexpr int kKernel = 3;
constexpr int kThreads = 128;

__global__ void __launch_bounds__(kThreads)
deconv_plane_mean(const float* __restrict__ x, const float* __restrict__ weight,
                  const float* __restrict__ bias, float* __restrict__ means, int in_channels,
                  int height, int width, int out_channels, int out_height, int out_width) {
    __shared__ float warp_totals[kThreads / 32];

    const int channel = blockIdx.x;
    const int outputs = out_height * out_width;
    const float* image = x + static_cast<long long>(blockIdx.y) * in_channels * height * width;
    float sum = 0.0f;
    for (int i = threadIdx.x; i < outputs; i += kThreads) {
        const int out_row = i / out_width;
        const int out_col = i % out_width;
        float acc = bias[channel];
        for (int c = 0; c < in_channels; ++c) {
            const float* taps = weight + (c * out_channels + channel) * kKernel * kKernel;
            for (int tap = 0; tap < kKernel * kKernel; ++tap) {
                const int row = out_row - tap / kKernel;
                const int col = out_col - tap % kKernel;
                if (row >= 0 && row < height && col >= 0 && col < width) {
                    acc += image[(c * height + row) * width + col] * taps[tap];
                }
            }
        }
        sum += acc;
    }
    sum = block_sum(sum, warp_totals);
    if (threadIdx.x == 0) {
        means[blockIdx.y * out_channels + channel] = sum / outputs;
    }
}

__global__ void add_logsumexp(const float* __restrict__ means, const float* __restrict__ mean_bias,
                              float* __restrict__ y, int out_channels, float factor) {
    const float* row = means + blockIdx.x * out_channels;
    float top = -INFINITY;
    float sum = 0.0f;
    for (int o = threadIdx.x; o < out_channels; o += 32) {
        const float value = row[o] + mean_bias[o];
        const float higher = fmaxf(top, value);
        sum = sum * expf(top - higher) + expf(value - higher);
        top = higher;
    }
    const float highest = warp_max(top);
    // A lane without a channel has -inf and nothing to give.
    sum = warp_sum(sum * expf(top - highest));
    if (threadIdx.x == 0) {
        float value = highest + logf(sum);
        value *= factor;
        y[blockIdx.x] = value;
    }
}
