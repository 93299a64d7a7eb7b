// 3 x 3 transposed convolution, stride 5, dilation 2, padding 1. No two taps of any two inputs meet
// in an output: after the output is zeroed, a thread an input pixel and output channel stores its
// nine results without atomics.
#include "deconv_fill.cuh"

__global__ void conv_transpose2d_single_writer(const float* __restrict__ x,
                                               const float* __restrict__ weight,
                                               float* __restrict__ y, int in_channels, int height,
                                               int width, int out_channels, int out_height,
                                               int out_width, int stride, int padding,
                                               int dilation) {
    constexpr int kTaps = 9;
    const int pixels = height * width;
    const int pixel = blockIdx.x * blockDim.x + threadIdx.x;
    const int channel = blockIdx.y * blockDim.y + threadIdx.y;
    if (pixel >= pixels || channel >= out_channels) {
        return;
    }

    float sums[kTaps] = {};
    const float* value = x + static_cast<size_t>(blockIdx.z) * in_channels * pixels + pixel;
    const float* taps = weight + channel * kTaps;
    for (int c = 0; c < in_channels; ++c) {
#pragma unroll
        for (int t = 0; t < kTaps; ++t) {
            sums[t] += *value * taps[t];
        }
        value += pixels;
        taps += out_channels * kTaps;
    }

    const int top = pixel / width * stride - padding;
    const int left = pixel % width * stride - padding;
    float* out =
        y + (static_cast<size_t>(blockIdx.z) * out_channels + channel) * out_height * out_width;
    for (int t = 0; t < kTaps; ++t) {
        const int row = top + t / 3 * dilation;
        const int col = left + t % 3 * dilation;
        if (row >= 0 && row < out_height && col >= 0 && col < out_width) {
            out[row * out_width + col] = sums[t];
        }
    }
}
