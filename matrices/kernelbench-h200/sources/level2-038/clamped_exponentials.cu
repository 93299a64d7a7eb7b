// Averages of 2 x 2 x 2 inputs, a 3 x 3 x 3 transposed convolution that doubles every axis,
// clamped, softmax of each volume, a factor of the channel. What is clamped has a largest value
// known beforehand, so exponentials need no maximum: the second kernel writes them and adds up
// each block, the third adds up the blocks, the last divides.

#include "deconv_octet.cuh"
#include "fused_activations.cuh"
#include "warp_reduce.cuh"
#include "block_reduce.cuh"

constexpr int kTaps = 27;
constexpr int kPool = 2;
constexpr int kThreads = 64;

extern __shared__ float taps[];

__global__ void average_pool3d(const float* __restrict__ x, float* __restrict__ pooled, int depth,
                               int height, int width, int pool_depth, int pool_height,
                               int pool_width) {
    const int windows = pool_depth * pool_height * pool_width;
    const int window = blockIdx.x * blockDim.x + threadIdx.x;
    if (window >= windows) {
        return;
    }
    const int first_d = window / (pool_height * pool_width) * kPool;
    const int first_h = window / pool_width % pool_height * kPool;
    const int first_w = window % pool_width * kPool;
    const float* volume = x + static_cast<long long>(blockIdx.y) * depth * height * width;

    float sum = 0.0f;
    for (int d = first_d; d < first_d + kPool; ++d) {
        for (int h = first_h; h < first_h + kPool; ++h) {
            const float* row = volume + (d * height + h) * width + first_w;
            sum += row[0];
            sum += row[1];
        }
    }
    pooled[static_cast<long long>(blockIdx.y) * windows + window] = sum / (kPool * kPool * kPool);
}

__global__ void __launch_bounds__(kThreads)
deconv_clamp_exp(const float* __restrict__ pooled, const float* __restrict__ weight,
                 const float* __restrict__ bias, float* __restrict__ y,
                 float* __restrict__ block_sums, int in_channels, int pool_depth, int pool_height,
                 int pool_width, int out_channels, float clamp_min, float clamp_max) {
    __shared__ float warp_totals[kThreads / 32];

    const int channel = blockIdx.y;
    for (int i = threadIdx.x; i < in_channels * kTaps; i += kThreads) {
        taps[i] = weight[(i / kTaps * out_channels + channel) * kTaps + i % kTaps];
    }
    __syncthreads();

    const int voxels = pool_depth * pool_height * pool_width;
    const int voxel = blockIdx.x * kThreads + threadIdx.x;
    const int d = voxel / (pool_height * pool_width);
    const int h = voxel / pool_width % pool_height;
    const int w = voxel % pool_width;
    const float* image = pooled + static_cast<long long>(blockIdx.z) * in_channels * voxels;

    float acc[8] = {};
    for (int c = 0; c < in_channels; ++c) {
        float inputs[8];
        octet_load(inputs, image + c * voxels, d, h, w, pool_depth, pool_height, pool_width);
        octet_add(acc, inputs, taps + c * kTaps);
    }

    const int plane = blockIdx.z * out_channels + channel;
    float sum = 0.0f;
    if (voxel < voxels) {
        float* volume = y + static_cast<long long>(plane) * voxels * 8;
#pragma unroll
        for (int i = 0; i < 8; ++i) {
            float value = acc[i] + bias[channel];
            value = clamp_to(value, clamp_min, clamp_max);
            acc[i] = expf(value - clamp_max);
            sum += acc[i];
        }
#pragma unroll
        for (int r = 0; r < 4; ++r) {
            const int row = (2 * d + (r >> 1)) * 2 * pool_height + 2 * h + (r & 1);
            // Rows are 2 pool_width long, so that pairs are aligned.
            *reinterpret_cast<float2*>(volume + row * 2 * pool_width + 2 * w) =
                make_float2(acc[2 * r], acc[2 * r + 1]);
        }
    }
    sum = block_sum(sum, warp_totals);
    if (threadIdx.x == 0) {
        block_sums[static_cast<long long>(plane) * gridDim.x + blockIdx.x] = sum;
    }
}

// A warp adds up the blocks of a volume.
__global__ void merge_sums(const float* __restrict__ block_sums, float* __restrict__ totals,
                           int planes, int blocks) {
    const int plane = blockIdx.x * blockDim.y + threadIdx.y;
    if (plane >= planes) {
        return;
    }
    float sum = 0.0f;
    for (int i = threadIdx.x; i < blocks; i += 32) {
        sum += block_sums[static_cast<long long>(plane) * blocks + i];
    }
    sum = warp_sum(sum);
    if (threadIdx.x == 0) {
        totals[plane] = sum;
    }
}

// Every axis of the output is even: a volume's elements are a multiple of eight.
__global__ void divide_scale(float4* __restrict__ y, const float* __restrict__ totals,
                             const float* __restrict__ scale, int out_channels, int quads) {
    const int plane = blockIdx.y;
    const float total = totals[plane];
    const float factor = scale[plane % out_channels];
    float4* volume = y + static_cast<long long>(plane) * quads;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < quads; i += gridDim.x * blockDim.x) {
        float4 value = volume[i];
        value.x /= total;
        value.y /= total;
        value.z /= total;
        value.w /= total;
        value.x *= factor;
        value.y *= factor;
        value.z *= factor;
        value.w *= factor;
        volume[i] = value;
    }
}
