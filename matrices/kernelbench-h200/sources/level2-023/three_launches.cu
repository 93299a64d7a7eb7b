// 3 x 3 x 3 convolution, GroupNorm of three channels a group, the mean of all that an image has
// then. The convolution goes to memory, a thread makes one voxel of a group's channels; a block
// takes the moments of a group in two passes; a block an image standardises, scales and adds up.

#include "warp_reduce.cuh"
#include "block_reduce.cuh"

constexpr int kKernel = 3;
constexpr int kTaps = kKernel * kKernel * kKernel;
constexpr int kWidth = 3;  // channels of a group
constexpr int kThreads = 128;

__global__ void __launch_bounds__(kThreads)
conv3d_group(const float* __restrict__ x, const float* __restrict__ weight,
             const float* __restrict__ bias, float* __restrict__ hidden, int in_channels,
             int depth, int height, int width, int groups, int out_depth, int out_height,
             int out_width) {
    extern __shared__ float filters[];  // the group's, as they lie in memory

    const int group = blockIdx.y % groups;
    const long long image = blockIdx.y / groups;
    const int terms = in_channels * kTaps;
    for (int i = threadIdx.x; i < kWidth * terms; i += kThreads) {
        filters[i] = weight[group * kWidth * terms + i];
    }
    __syncthreads();

    const int voxels = out_depth * out_height * out_width;
    const int voxel = blockIdx.x * kThreads + threadIdx.x;
    if (voxel >= voxels) {
        return;
    }
    const int layer = voxel / (out_height * out_width);
    const int row = voxel / out_width % out_height;
    const int col = voxel % out_width;

    float first = bias[group * kWidth];
    float second = bias[group * kWidth + 1];
    float third = bias[group * kWidth + 2];
    int term = 0;
    for (int c = 0; c < in_channels; ++c) {
        const float* volume = x + (image * in_channels + c) * depth * height * width;
        for (int i = 0; i < kKernel; ++i) {
            for (int j = 0; j < kKernel; ++j) {
                const float* line = volume + ((layer + i) * height + row + j) * width + col;
                for (int k = 0; k < kKernel; ++k, ++term) {
                    first += line[k] * filters[term];
                    second += line[k] * filters[terms + term];
                    third += line[k] * filters[2 * terms + term];
                }
            }
        }
    }
    float* target = hidden + static_cast<long long>(blockIdx.y) * kWidth * voxels + voxel;
    target[0] = first;
    target[voxels] = second;
    target[2 * voxels] = third;
}

__global__ void __launch_bounds__(kThreads)
group_statistics(const float* __restrict__ hidden, float* __restrict__ means,
                 float* __restrict__ inverses, int members, float eps) {
    __shared__ float warp_totals[kThreads / 32];

    const float* values = hidden + static_cast<long long>(blockIdx.x) * members;
    float sum = 0.0f;
    for (int i = threadIdx.x; i < members; i += kThreads) {
        sum += values[i];
    }
    const float mean = block_sum(sum, warp_totals) / members;

    float squares = 0.0f;
    for (int i = threadIdx.x; i < members; i += kThreads) {
        const float deviation = values[i] - mean;
        squares += deviation * deviation;
    }
    const float variance = block_sum(squares, warp_totals) / members;
    if (threadIdx.x == 0) {
        means[blockIdx.x] = mean;
        inverses[blockIdx.x] = rsqrtf(variance + eps);
    }
}

__global__ void __launch_bounds__(kThreads)
mean_of_standardised(const float* __restrict__ hidden, const float* __restrict__ means,
                     const float* __restrict__ inverses, const float* __restrict__ norm_weight,
                     const float* __restrict__ norm_bias, float* __restrict__ y, int groups,
                     int voxels) {
    __shared__ float warp_totals[kThreads / 32];

    const int channels = groups * kWidth;
    const float* image = hidden + static_cast<long long>(blockIdx.x) * channels * voxels;
    float total = 0.0f;
    for (int channel = 0; channel < channels; ++channel) {
        const int run = blockIdx.x * groups + channel / kWidth;
        const float* plane = image + static_cast<long long>(channel) * voxels;
        float sum = 0.0f;
        for (int i = threadIdx.x; i < voxels; i += kThreads) {
            float value = (plane[i] - means[run]) * inverses[run];
            value = value * norm_weight[channel] + norm_bias[channel];
            sum += value;
        }
        total += sum;
    }
    total = block_sum(total, warp_totals);
    if (threadIdx.x == 0) {
        y[blockIdx.x] = total / (channels * voxels);
    }
}
