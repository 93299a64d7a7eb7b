// 3 x 3 convolution; GroupNorm of four channels a group, tanh and hard swish of it, added to it;
// log-sum-exp over the channels. The last kernel goes over a pixel's channels once: four threads a
// pixel, each with a running maximum and the sum of exponentials that belongs to it.

#include "fused_activations.cuh"
#include "limits.cuh"
#include "welford.cuh"
#include "norm_block_moments.cuh"

constexpr int kKernel = 3;
constexpr int kTaps = kKernel * kKernel;
constexpr int kPair = 2;
constexpr int kWindow = kPair + kKernel - 1;
constexpr int kWidth = 4;  // channels of a group
constexpr int kMoments = 64;
constexpr int kPixels = 32;
constexpr int kShares = 4;

// Two neighbouring pixels of a group's four channels a thread; the filters are the same for the
// whole block, and come through the cache.
__global__ void conv2d_pairs(const float* __restrict__ x, const float* __restrict__ weight,
                             const float* __restrict__ bias, float* __restrict__ hidden,
                             int in_channels, int height, int width, int groups, int out_height,
                             int out_width) {
    const int col = (blockIdx.x * blockDim.x + threadIdx.x) * kPair;
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= out_height || col >= out_width) {
        return;
    }
    const int group = blockIdx.z % groups;
    const long long image = blockIdx.z / groups;
    const int terms = in_channels * kTaps;
    const bool both = col + 1 < out_width;

    float acc[kWidth][kPair] = {};
    for (int c = 0; c < in_channels; ++c) {
        for (int r = 0; r < kKernel; ++r) {
            const float* line = x + ((image * in_channels + c) * height + row + r) * width + col;
            const float window[kWindow] = {line[0], line[1], line[2], both ? line[3] : 0.0f};
            const float* filter = weight + group * kWidth * terms + c * kTaps + r * kKernel;
#pragma unroll
            for (int o = 0; o < kWidth; ++o) {
#pragma unroll
                for (int s = 0; s < kKernel; ++s) {
                    acc[o][0] += window[s] * filter[o * terms + s];
                    acc[o][1] += window[s + 1] * filter[o * terms + s];
                }
            }
        }
    }
    for (int o = 0; o < kWidth; ++o) {
        const long long plane = static_cast<long long>(blockIdx.z) * kWidth + o;
        float* target = hidden + (plane * out_height + row) * out_width + col;
        const float shift = bias[group * kWidth + o];
        target[0] = acc[o][0] + shift;
        if (both) {
            target[1] = acc[o][1] + shift;
        }
    }
}

__global__ void __launch_bounds__(kMoments)
group_moments(const float* __restrict__ hidden, float* __restrict__ means,
              float* __restrict__ inverses, int members, float eps) {
    __shared__ Moments warp_moments[kMoments / 32];

    const float* values = hidden + static_cast<long long>(blockIdx.x) * members;
    Moments moments = {0.0f, 0.0f, 0.0f};
    for (int i = threadIdx.x; i < members; i += kMoments) {
        welford_push(moments, values[i]);
    }
    moments = welford_block(moments, warp_moments);
    if (threadIdx.x == 0) {
        means[blockIdx.x] = moments.mean;
        inverses[blockIdx.x] = rsqrtf(moments.m2 / moments.count + eps);
    }
}

__device__ __forceinline__ void push_exponential(float& top, float& total, float value) {
    if (value > top) {
        total = total * expf(top - value) + 1.0f;
        top = value;
    } else {
        total += expf(value - top);
    }
}

__global__ void __launch_bounds__(kPixels * kShares)
residual_logsumexp(const float* __restrict__ hidden, const float* __restrict__ means,
                   const float* __restrict__ inverses, const float* __restrict__ norm_weight,
                   const float* __restrict__ norm_bias, float* __restrict__ y, int groups,
                   int pixels) {
    __shared__ float tops[kShares][kPixels];
    __shared__ float totals[kShares][kPixels];

    const int pixel = blockIdx.x * kPixels + threadIdx.x;
    const int channels = groups * kWidth;
    float top = -INFINITY;
    float total = 0.0f;
    if (pixel < pixels) {
        const float* image = hidden + static_cast<long long>(blockIdx.y) * channels * pixels;
        for (int channel = threadIdx.y; channel < channels; channel += kShares) {
            const int run = blockIdx.y * groups + channel / kWidth;
            const float kept = image[static_cast<long long>(channel) * pixels + pixel];
            float value = (kept - means[run]) * inverses[run];
            value = value * norm_weight[channel] + norm_bias[channel];
            value = tanhf(value);
            value = hardswish(value);
            value += kept;
            push_exponential(top, total, value);
        }
    }
    tops[threadIdx.y][threadIdx.x] = top;
    totals[threadIdx.y][threadIdx.x] = total;
    __syncthreads();

    if (threadIdx.y == 0 && pixel < pixels) {
        for (int share = 1; share < kShares; ++share) {
            top = fmaxf(top, tops[share][threadIdx.x]);
        }
        float sum = 0.0f;
        for (int share = 0; share < kShares; ++share) {
            sum += totals[share][threadIdx.x] * expf(tops[share][threadIdx.x] - top);
        }
        y[static_cast<long long>(blockIdx.y) * pixels + pixel] = top + logf(sum);
    }
}
