// 3 x 3 x 3 transposed convolution of stride 2 and padding 1, scaled, the largest of windows of
// 2 x 2 x 2, the mean of those, clamped. One block makes one channel of an image, which is one
// output number: its threads walk the windows and keep sums, which meet in a tree.

#include "deconv_octet.cuh"
#include "fused_activations.cuh"
#include "pool_nan.cuh"
#include "tree_reduce.cuh"

constexpr int kTaps = 27;
constexpr int kThreads = 64;

__global__ void __launch_bounds__(kThreads)
deconv_max_average_clamp(const float* __restrict__ x, const float* __restrict__ weight,
                         const float* __restrict__ bias, float* __restrict__ y, int in_channels,
                         int depth, int height, int width, int out_channels, float scale,
                         float clamp_min, float clamp_max) {
    __shared__ float scratch[kThreads];

    const int channel = blockIdx.x;
    const int pool_depth = depth - 1;
    const int pool_height = height - 1;
    const int pool_width = width - 1;
    const int windows = pool_depth * pool_height * pool_width;
    const int volume = depth * height * width;
    const float* image = x + static_cast<long long>(blockIdx.y) * in_channels * volume;

    float sum = 0.0f;
    for (int window = threadIdx.x; window < windows; window += kThreads) {
        const int d = window / (pool_height * pool_width);
        const int h = window / pool_width % pool_height;
        const int w = window % pool_width;
        float acc[8] = {};
        for (int c = 0; c < in_channels; ++c) {
            float inputs[8];
            octet_load(inputs, image + c * volume, d, h, w, depth, height, width);
            octet_add(acc, inputs, weight + (c * out_channels + channel) * kTaps);
        }
        float largest = (acc[0] + bias[channel]) * scale;
#pragma unroll
        for (int i = 1; i < 8; ++i) {
            float value = acc[i] + bias[channel];
            value *= scale;
            largest = nan_max(largest, value);
        }
        sum += largest;
    }

    const float total = tree_sum(sum, scratch);
    if (threadIdx.x == 0) {
        float value = total / windows;
        value = clamp_to(value, clamp_min, clamp_max);
        y[blockIdx.y * out_channels + channel] = value;
    }
}
