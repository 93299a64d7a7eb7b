// The mean of a plane that a transposed convolution makes, without making it: with stride 1 and no
// padding every tap carries every input into the output, so a plane's sum is the inputs' sum times
// the taps' sum. A block a plane sums inputs, a block an image combines channels: mean, biases,
// logarithm of the sum of exponentials, times 10. The benchmark's sum over the 1 x 1 image that is
// left changes nothing.

#include "limits.cuh"
#include "tree_reduce.cuh"

constexpr int kTaps = 9;
constexpr int kSumThreads = 256;
constexpr int kThreads = 128;

extern __shared__ float logits[];

__global__ void __launch_bounds__(kSumThreads)
plane_sums(const float* __restrict__ x, float* __restrict__ sums, int pixels) {
    __shared__ float scratch[kSumThreads];

    const float* plane = x + static_cast<long long>(blockIdx.x) * pixels;
    float sum = 0.0f;
    for (int i = threadIdx.x; i < pixels; i += kSumThreads) {
        sum += plane[i];
    }
    sum = tree_sum(sum, scratch);
    if (threadIdx.x == 0) {
        sums[blockIdx.x] = sum;
    }
}

__global__ void __launch_bounds__(kThreads)
mean_add_logsumexp(const float* __restrict__ sums, const float* __restrict__ weight,
                   const float* __restrict__ bias, const float* __restrict__ mean_bias,
                   float* __restrict__ y, int in_channels, int out_channels, int outputs,
                   float factor) {
    __shared__ float scratch[kThreads];

    const float* inputs = sums + blockIdx.x * in_channels;
    float top = -INFINITY;
    for (int o = threadIdx.x; o < out_channels; o += kThreads) {
        float total = 0.0f;
        for (int c = 0; c < in_channels; ++c) {
            const float* taps = weight + (c * out_channels + o) * kTaps;
            float all = taps[0];
            for (int tap = 1; tap < kTaps; ++tap) {
                all += taps[tap];
            }
            total += inputs[c] * all;
        }
        float value = total / outputs + bias[o];
        value += mean_bias[o];
        logits[o] = value;
        top = fmaxf(top, value);
    }
    top = tree_max(top, scratch);

    float sum = 0.0f;
    for (int o = threadIdx.x; o < out_channels; o += kThreads) {
        sum += expf(logits[o] - top);
    }
    sum = tree_sum(sum, scratch);
    if (threadIdx.x == 0) {
        float value = top + logf(sum);
        value *= factor;
        y[blockIdx.x] = value;
    }
}
