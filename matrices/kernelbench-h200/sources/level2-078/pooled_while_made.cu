// 5 x 5 x 5 transposed convolution with stride 2 and padding 2, pooled twice and summed over the
// channels. A thread of the first kernel makes the eight outputs of a window of the first pooling
// and keeps the largest; the second kernel pools what is left and adds the channels, four warps
// taking every fourth one.

#include "deconv_source.cuh"
#include "limits.cuh"
#include "pool_nan.cuh"

constexpr int kKernel = 5;
constexpr int kStride = 2;
constexpr int kPadding = 2;
constexpr int kFirst = 2;
constexpr int kSecond = 3;
constexpr int kWarps = 4;

__device__ float output_at(const float* __restrict__ image, const float* __restrict__ weight,
                           int in_channels, int depth, int height, int width, int out_channels,
                           int channel, int od, int oh, int ow) {
    float acc = 0.0f;
    for (int i = 0; i < kKernel; ++i) {
        const int d = deconv_source(od, i, depth, kStride, kPadding, 1);
        if (d < 0) {
            continue;
        }
        for (int j = 0; j < kKernel; ++j) {
            const int h = deconv_source(oh, j, height, kStride, kPadding, 1);
            if (h < 0) {
                continue;
            }
            for (int k = 0; k < kKernel; ++k) {
                const int w = deconv_source(ow, k, width, kStride, kPadding, 1);
                if (w < 0) {
                    continue;
                }
                const int tap = (i * kKernel + j) * kKernel + k;
                for (int c = 0; c < in_channels; ++c) {
                    acc += image[((c * depth + d) * height + h) * width + w] *
                           weight[(c * out_channels + channel) * kKernel * kKernel * kKernel + tap];
                }
            }
        }
    }
    return acc;
}

__global__ void conv_transpose3d_pool2(const float* __restrict__ x,
                                       const float* __restrict__ weight,
                                       const float* __restrict__ bias, float* __restrict__ pooled,
                                       int in_channels, int depth, int height, int width,
                                       int out_channels, int pool_depth, int pool_height,
                                       int pool_width) {
    const int voxels = pool_depth * pool_height * pool_width;
    const int voxel = blockIdx.x * blockDim.x + threadIdx.x;
    if (voxel >= voxels) {
        return;
    }
    const int channel = blockIdx.y;
    const float* image =
        x + static_cast<long long>(blockIdx.z) * in_channels * depth * height * width;
    const int pd = voxel / (pool_height * pool_width) * kFirst;
    const int ph = voxel / pool_width % pool_height * kFirst;
    const int pw = voxel % pool_width * kFirst;

    float largest = -INFINITY;
    for (int corner = 0; corner < kFirst * kFirst * kFirst; ++corner) {
        const float value =
            output_at(image, weight, in_channels, depth, height, width, out_channels, channel,
                      pd + corner / (kFirst * kFirst), ph + corner / kFirst % kFirst,
                      pw + corner % kFirst) + bias[channel];
        largest = nan_max(largest, value);
    }
    const long long plane = static_cast<long long>(blockIdx.z) * out_channels + channel;
    pooled[plane * voxels + voxel] = largest;
}

__global__ void pool3_channel_sum(const float* __restrict__ pooled, float* __restrict__ y,
                                  int out_channels, int pool_depth, int pool_height,
                                  int pool_width, int last_depth, int last_height,
                                  int last_width) {
    __shared__ float sums[kWarps][32];

    const int outputs = last_depth * last_height * last_width;
    const int output = blockIdx.x * 32 + threadIdx.x;
    const int first_d = output / (last_height * last_width) * kSecond;
    const int first_h = output / last_width % last_height * kSecond;
    const int first_w = output % last_width * kSecond;
    const long long voxels = static_cast<long long>(pool_depth) * pool_height * pool_width;

    float sum = 0.0f;
    for (int c = threadIdx.y; output < outputs && c < out_channels; c += kWarps) {
        const float* image =
            pooled + (static_cast<long long>(blockIdx.y) * out_channels + c) * voxels;
        float largest = -INFINITY;
        for (int d = first_d; d < first_d + kSecond; ++d) {
            for (int h = first_h; h < first_h + kSecond; ++h) {
                for (int w = first_w; w < first_w + kSecond; ++w) {
                    const float value = image[(d * pool_height + h) * pool_width + w];
                    largest = nan_max(largest, value);
                }
            }
        }
        sum += largest;
    }
    sums[threadIdx.y][threadIdx.x] = sum;
    __syncthreads();

    if (threadIdx.y == 0 && output < outputs) {
        float total = sums[0][threadIdx.x];
        for (int w = 1; w < kWarps; ++w) {
            total += sums[w][threadIdx.x];
        }
        y[static_cast<long long>(blockIdx.y) * outputs + output] = total;
    }
}
