// 4 x 4 x 4 convolution, hard swish, GroupNorm of four channels a group, the mean of each channel.
// The mean of a channel standardised is its mean standardised, so no voxel is written: a block of
// the first kernel makes a share of a group's voxels and keeps the moments of its four channels;
// the second kernel, a lane a channel, merges the blocks' moments, then those of four lanes.

#include "fused_activations.cuh"
#include "welford.cuh"
#include "norm_block_moments.cuh"

constexpr int kKernel = 4;
constexpr int kTaps = kKernel * kKernel * kKernel;
constexpr int kWidth = 4;  // channels of a group
constexpr int kThreads = 64;

__global__ void __launch_bounds__(kThreads)
conv3d_moments(const float* __restrict__ x, const float* __restrict__ weight,
               const float* __restrict__ bias, float* __restrict__ counts,
               float* __restrict__ means, float* __restrict__ squares, int in_channels, int depth,
               int height, int width, int out_depth, int out_height, int out_width) {
    extern __shared__ float4 filters[];  // in_channels x kTaps, the four channels a term
    __shared__ Moments warp_moments[kThreads / 32];

    const int group = blockIdx.y;
    const long long image = blockIdx.z;
    const int terms = in_channels * kTaps;
    const float* source = weight + group * kWidth * terms;
    for (int term = threadIdx.x; term < terms; term += kThreads) {
        filters[term] = make_float4(source[term], source[terms + term], source[2 * terms + term],
                                    source[3 * terms + term]);
    }
    __syncthreads();

    const int voxels = out_depth * out_height * out_width;
    Moments moments[kWidth] = {};
    for (int voxel = blockIdx.x * kThreads + threadIdx.x; voxel < voxels;
         voxel += gridDim.x * kThreads) {
        const int layer = voxel / (out_height * out_width);
        const int row = voxel / out_width % out_height;
        const int col = voxel % out_width;
        float acc[kWidth] = {};
        const float4* factors = filters;
        for (int c = 0; c < in_channels; ++c) {
            const float* corner =
                x + (((image * in_channels + c) * depth + layer) * height + row) * width + col;
            for (int ij = 0; ij < kKernel * kKernel; ++ij, factors += kKernel) {
                const float* line = corner + (ij / kKernel * height + ij % kKernel) * width;
#pragma unroll
                for (int k = 0; k < kKernel; ++k) {
                    acc[0] += line[k] * factors[k].x;
                    acc[1] += line[k] * factors[k].y;
                    acc[2] += line[k] * factors[k].z;
                    acc[3] += line[k] * factors[k].w;
                }
            }
        }
        for (int o = 0; o < kWidth; ++o) {
            float value = acc[o] + bias[group * kWidth + o];
            value = hardswish(value);
            welford_push(moments[o], value);
        }
    }

    for (int o = 0; o < kWidth; ++o) {
        const Moments whole = welford_block(moments[o], warp_moments);
        if (threadIdx.x == 0) {
            const long long channel = (image * gridDim.y + group) * kWidth + o;
            const long long part = channel * gridDim.x + blockIdx.x;
            counts[part] = whole.count;
            means[part] = whole.mean;
            squares[part] = whole.m2;
        }
    }
}

__device__ __forceinline__ Moments moments_of_lane(Moments moments, int lane) {
    Moments other;
    other.count = __shfl_sync(0xffffffffu, moments.count, lane);
    other.mean = __shfl_sync(0xffffffffu, moments.mean, lane);
    other.m2 = __shfl_sync(0xffffffffu, moments.m2, lane);
    return other;
}

__global__ void standardise_means(const float* __restrict__ counts,
                                  const float* __restrict__ means,
                                  const float* __restrict__ squares,
                                  const float* __restrict__ norm_weight,
                                  const float* __restrict__ norm_bias, float* __restrict__ y,
                                  int planes, int out_channels, int parts, float eps) {
    const int plane = blockIdx.x * blockDim.x + threadIdx.x;
    Moments own = {0.0f, 0.0f, 0.0f};
    for (int part = 0; plane < planes && part < parts; ++part) {
        const long long at = static_cast<long long>(plane) * parts + part;
        const Moments other = {counts[at], means[at], squares[at]};
        own = welford_merge(own, other);
    }

    // All lanes of a group merge in the same order.
    const int first = threadIdx.x % 32 / kWidth * kWidth;
    Moments group = moments_of_lane(own, first);
    for (int o = 1; o < kWidth; ++o) {
        group = welford_merge(group, moments_of_lane(own, first + o));
    }
    if (plane >= planes) {
        return;
    }
    const int channel = plane % out_channels;
    const float inverse = rsqrtf(group.m2 / group.count + eps);
    float value = (own.mean - group.mean) * inverse;
    value = value * norm_weight[channel] + norm_bias[channel];
    y[plane] = value;
}
