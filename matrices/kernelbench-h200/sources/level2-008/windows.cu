// 3 x 3 x 3 convolution, a divisor, max-pooling by two, the average of what that leaves, a bias a
// channel, and the sum of the channels. A thread of the first kernel makes the eight outputs of a
// window of two channels at once, from 4 x 4 x 4 inputs in registers, and strides over the windows;
// the outputs never reach memory, only a sum a block does. In the second kernel a warp finishes an
// image.

#include "conv3d_octet.cuh"
#include "limits.cuh"
#include "pool_nan.cuh"
#include "warp_reduce.cuh"
#include "block_reduce.cuh"

constexpr int kTaps = 27;
constexpr int kPair = 2;
constexpr int kOctet = 8;
constexpr int kPool = 2;
constexpr int kReach = 4;
constexpr int kThreads = 64;

__device__ __forceinline__ float largest_quotient(const float (&acc)[kOctet], float bias,
                                                  float divisor) {
    float largest = -INFINITY;
    for (int o = 0; o < kOctet; ++o) {
        float value = acc[o] + bias;
        value /= divisor;
        largest = nan_max(largest, value);
    }
    return largest;
}

__global__ void __launch_bounds__(kThreads)
conv3d_divide_max(const float* __restrict__ x, const float* __restrict__ weight,
                  const float* __restrict__ bias, float* __restrict__ partial, int in_channels,
                  int depth, int height, int width, int out_channels, int pool_depth,
                  int pool_height, int pool_width, float divisor) {
    __shared__ float warp_totals[kThreads / 32];

    const int windows = pool_depth * pool_height * pool_width;
    const long long image = blockIdx.z;
    const int first = blockIdx.y * kPair;
    const int second = min(first + 1, out_channels - 1);
    const int terms = in_channels * kTaps;

    float first_sum = 0.0f;
    float second_sum = 0.0f;
    for (int window = blockIdx.x * kThreads + threadIdx.x; window < windows;
         window += gridDim.x * kThreads) {
        const int layer = window / (pool_height * pool_width) * kPool;
        const int row = window / pool_width % pool_height * kPool;
        const int col = window % pool_width * kPool;
        float first_acc[kOctet] = {};
        float second_acc[kOctet] = {};
        for (int c = 0; c < in_channels; ++c) {
            const float* corner =
                x + (((image * in_channels + c) * depth + layer) * height + row) * width + col;
            float cube[kReach][kReach][kReach];
#pragma unroll
            for (int i = 0; i < kReach; ++i) {
#pragma unroll
                for (int j = 0; j < kReach; ++j) {
#pragma unroll
                    for (int k = 0; k < kReach; ++k) {
                        cube[i][j][k] = corner[(i * height + j) * width + k];
                    }
                }
            }
            octet_of_cube(first_acc, cube, weight + first * terms + c * kTaps);
            octet_of_cube(second_acc, cube, weight + second * terms + c * kTaps);
        }
        first_sum += largest_quotient(first_acc, bias[first], divisor);
        second_sum += largest_quotient(second_acc, bias[second], divisor);
    }

    first_sum = block_sum(first_sum, warp_totals);
    second_sum = block_sum(second_sum, warp_totals);
    if (threadIdx.x == 0) {
        float* sums = partial + (image * out_channels + first) * gridDim.x + blockIdx.x;
        sums[0] = first_sum;
        if (first + 1 < out_channels) {
            sums[gridDim.x] = second_sum;
        }
    }
}

__global__ void average_add_sum(const float* __restrict__ partial,
                                const float* __restrict__ channel_bias, float* __restrict__ y,
                                int batch, int out_channels, int parts, int windows) {
    const int image = blockIdx.x * blockDim.y + threadIdx.y;
    if (image >= batch) {
        return;
    }
    float sum = 0.0f;
    for (int channel = threadIdx.x; channel < out_channels; channel += 32) {
        const float* parts_of_channel = partial + (image * out_channels + channel) * parts;
        float value = 0.0f;
        for (int part = 0; part < parts; ++part) {
            value += parts_of_channel[part];
        }
        value /= windows;
        value += channel_bias[channel];
        sum += value;
    }
    sum = warp_sum(sum);
    if (threadIdx.x == 0) {
        y[image] = sum;
    }
}
