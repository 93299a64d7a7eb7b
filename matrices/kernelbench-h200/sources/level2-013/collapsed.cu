// 3 x 3 x 3 transposed convolution that keeps every axis, the mean along the depth, a bias, softmax
// of the channels, tanh, scaled. The mean of a sum is the sum of means: added up along the depth,
// a volume becomes three planes, one for each tap of that axis, and the convolution one of planes.
// A thread has one pixel; its logits wait where its outputs go, with a running maximum and sum.

#include "limits.cuh"

constexpr int kDepthTaps = 3;
constexpr int kTaps = 27;
constexpr int kOutputs = 8;
constexpr int kThreads = 64;

extern __shared__ float taps[];

// Tap 0 carries a slice to the one before it and the first nowhere, tap 2 to the one after it and
// the last nowhere.
__global__ void depth_sums(const float* __restrict__ x, float* __restrict__ sums, int in_channels,
                           int depth, int pixels) {
    const int pixel = blockIdx.x * blockDim.x + threadIdx.x;
    if (pixel >= pixels) {
        return;
    }
    const long long volume = static_cast<long long>(blockIdx.z) * in_channels + blockIdx.y;
    const float* column = x + volume * depth * pixels + pixel;
    float backward = 0.0f;
    float in_place = 0.0f;
    float forward = 0.0f;
    for (int d = 0; d < depth; ++d) {
        const float value = column[static_cast<long long>(d) * pixels];
        in_place += value;
        if (d > 0) {
            backward += value;
        }
        if (d < depth - 1) {
            forward += value;
        }
    }
    float* own = sums + volume * kDepthTaps * pixels + pixel;
    own[0] = backward;
    own[pixels] = in_place;
    own[2 * pixels] = forward;
}

__global__ void __launch_bounds__(kThreads)
deconv_planes_softmax_tanh(const float* __restrict__ sums, const float* __restrict__ weight,
                           const float* __restrict__ bias, const float* __restrict__ mean_bias,
                           float* __restrict__ y, int in_channels, int depth, int height,
                           int width, int out_channels, float scaling_factor) {
    const int pixels = height * width;
    const int pixel = blockIdx.x * kThreads + threadIdx.x;
    const int oh = pixel / width;
    const int ow = pixel % width;
    const float* planes =
        sums + static_cast<long long>(blockIdx.y) * in_channels * kDepthTaps * pixels;
    float* own = y + static_cast<long long>(blockIdx.y) * out_channels * pixels + pixel;

    float top = -FLT_MAX;
    float total = 0.0f;
    for (int o0 = 0; o0 < out_channels; o0 += kOutputs) {
        const int channels = min(kOutputs, out_channels - o0);
        __syncthreads();
        for (int i = threadIdx.x; i < in_channels * channels * kTaps; i += kThreads) {
            const int c = i / (channels * kTaps);
            const int o = i / kTaps % channels;
            taps[(c * kTaps + i % kTaps) * kOutputs + o] =
                weight[(c * out_channels + o0 + o) * kTaps + i % kTaps];
        }
        __syncthreads();
        if (pixel >= pixels) {
            continue;
        }

        float acc[kOutputs] = {};
        for (int plane = 0; plane < in_channels * kDepthTaps; ++plane) {
            for (int i = 0; i < 3; ++i) {
                const int h = oh + 1 - i;
                if (h < 0 || h >= height) {
                    continue;
                }
                for (int j = 0; j < 3; ++j) {
                    const int w = ow + 1 - j;
                    if (w < 0 || w >= width) {
                        continue;
                    }
                    const float value = planes[plane * pixels + h * width + w];
                    const float* row = taps + (plane * 9 + i * 3 + j) * kOutputs;
                    for (int o = 0; o < channels; ++o) {
                        acc[o] += value * row[o];
                    }
                }
            }
        }
        for (int o = 0; o < channels; ++o) {
            float logit = acc[o] / depth;
            logit += bias[o0 + o];
            logit += mean_bias[o0 + o];
            own[(o0 + o) * pixels] = logit;
            const float higher = fmaxf(top, logit);
            total = total * expf(top - higher) + expf(logit - higher);
            top = higher;
        }
    }
    if (pixel >= pixels) {
        return;
    }
    for (int o = 0; o < out_channels; ++o) {
        float value = expf(own[o * pixels] - top) / total;
        value = tanhf(value);
        value *= scaling_factor;
        own[o * pixels] = value;
    }
}
