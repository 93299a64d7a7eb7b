// 3 x 3 transposed convolution that doubles an image, halved, averaged over the plane. Four blocks
// share a plane of outputs, a thread makes 2 x 2 of them at a time and adds them at once; the
// second kernel averages what the blocks left. The benchmark averages twice, the second time one
// number.

#include "warp_reduce.cuh"
#include "block_reduce.cuh"
#include "deconv_quad.cuh"

constexpr int kTaps = 9;
constexpr int kThreads = 128;

__global__ void __launch_bounds__(kThreads)
deconv_multiply_sum(const float* __restrict__ x, const float* __restrict__ weight,
                    const float* __restrict__ bias, float* __restrict__ partial, int in_channels,
                    int height, int width, int out_channels, float multiplier) {
    __shared__ float warp_totals[kThreads / 32];

    const int channel = blockIdx.y;
    const int pixels = height * width;
    const int share = (pixels + gridDim.x - 1) / gridDim.x;
    const int begin = blockIdx.x * share;
    const int end = min(begin + share, pixels);
    const float* image = x + static_cast<long long>(blockIdx.z) * in_channels * pixels;

    float sum = 0.0f;
    for (int pixel = begin + threadIdx.x; pixel < end; pixel += kThreads) {
        const bool has_right = pixel % width + 1 < width;
        const bool has_below = pixel / width + 1 < height;
        float quad[4] = {};
        for (int c = 0; c < in_channels; ++c) {
            const float* here = image + c * pixels + pixel;
            const float right = has_right ? here[1] : 0.0f;
            const float below = has_below ? here[width] : 0.0f;
            const float across = has_right && has_below ? here[width + 1] : 0.0f;
            quad_add(quad, here[0], right, below, across,
                     weight + (c * out_channels + channel) * kTaps);
        }
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            float value = quad[i] + bias[channel];
            value *= multiplier;
            sum += value;
        }
    }
    sum = block_sum(sum, warp_totals);
    if (threadIdx.x == 0) {
        partial[(blockIdx.z * out_channels + channel) * gridDim.x + blockIdx.x] = sum;
    }
}

__global__ void average_slices(const float* __restrict__ partial, float* __restrict__ y,
                               int planes, int slices, int outputs) {
    const int plane = blockIdx.x * blockDim.x + threadIdx.x;
    if (plane < planes) {
        float total = 0.0f;
        for (int i = 0; i < slices; ++i) {
            total += partial[plane * slices + i];
        }
        y[plane] = total / outputs;
    }
}
