// 3 x 3 x 3 convolution and a factor a channel; InstanceNorm without an affine map; bounds, the
// same factor again, the largest channel. The convolution works on slabs of two output layers in
// shared memory, one voxel of four channels a thread. A block takes the moments of a plane four
// floats at a time. In the last kernel a thread goes over the channels of a voxel, with what
// standardises the image's planes in shared memory.

#include "conv3d_slab.cuh"
#include "conv_vector.cuh"
#include "fused_activations.cuh"
#include "limits.cuh"
#include "pool_nan.cuh"
#include "tree_reduce.cuh"

constexpr int kKernel = 3;
constexpr int kTaps = kKernel * kKernel * kKernel;
constexpr int kTileW = 8;
constexpr int kTileH = 8;
constexpr int kLayers = 2;
constexpr int kChannels = 4;
constexpr int kThreads = kTileW * kTileH * kLayers;
constexpr int kMoments = 128;

__global__ void __launch_bounds__(kThreads)
conv3d_multiply(const float* __restrict__ x, const float* __restrict__ weight,
                const float* __restrict__ bias, const float* __restrict__ multiplier,
                float* __restrict__ hidden, int in_channels, int depth, int height, int width,
                int out_channels, int out_depth, int out_height, int out_width) {
    __shared__ float slab[kLayers + kKernel - 1][kTileH + kKernel - 1][kTileW + kKernel - 1];
    __shared__ float taps[kTaps][kChannels];

    const int tid = (threadIdx.z * kTileH + threadIdx.y) * kTileW + threadIdx.x;
    const int storeys = (out_depth + kLayers - 1) / kLayers;
    const int groups = (out_channels + kChannels - 1) / kChannels;
    const int first_layer = blockIdx.z % storeys * kLayers;
    const int first_channel = blockIdx.z / storeys % groups * kChannels;
    const long long image = blockIdx.z / storeys / groups;

    float acc[kChannels] = {};
    for (int c = 0; c < in_channels; ++c) {
        const float* volume = x + (image * in_channels + c) * depth * height * width;
        stage_slab<kThreads>(slab, volume, first_layer, blockIdx.y * kTileH, blockIdx.x * kTileW,
                             depth, height, width, tid);
        if (tid < kTaps * kChannels) {
            const int channel = min(first_channel + tid / kTaps, out_channels - 1);
            taps[tid % kTaps][tid / kTaps] =
                weight[(channel * in_channels + c) * kTaps + tid % kTaps];
        }
        __syncthreads();

        for (int i = 0; i < kKernel; ++i) {
            for (int j = 0; j < kKernel; ++j) {
#pragma unroll
                for (int k = 0; k < kKernel; ++k) {
                    const float value = slab[threadIdx.z + i][threadIdx.y + j][threadIdx.x + k];
                    const float* factors = taps[(i * kKernel + j) * kKernel + k];
#pragma unroll
                    for (int o = 0; o < kChannels; ++o) {
                        acc[o] += value * factors[o];
                    }
                }
            }
        }
        __syncthreads();
    }

    const int layer = first_layer + threadIdx.z;
    const int row = blockIdx.y * kTileH + threadIdx.y;
    const int col = blockIdx.x * kTileW + threadIdx.x;
    if (layer >= out_depth || row >= out_height || col >= out_width) {
        return;
    }
    for (int o = 0; o < min(kChannels, out_channels - first_channel); ++o) {
        const int channel = first_channel + o;
        float value = acc[o] + bias[channel];
        value *= multiplier[channel];
        const long long plane = (image * out_channels + channel) * out_depth + layer;
        hidden[(plane * out_height + row) * out_width + col] = value;
    }
}

__global__ void __launch_bounds__(kMoments)
plane_moments(const float* __restrict__ hidden, float* __restrict__ means,
              float* __restrict__ inverses, int voxels, float eps) {
    __shared__ float scratch[kMoments];

    const float* plane = hidden + static_cast<long long>(blockIdx.x) * voxels;
    const bool aligned = voxels % 4 == 0;
    float sum = 0.0f;
    for (int at = threadIdx.x * 4; at < voxels; at += kMoments * 4) {
        const float4 quad = load4(plane + at, voxels - at, aligned);
        sum += (quad.x + quad.y) + (quad.z + quad.w);
    }
    const float mean = tree_sum(sum, scratch) / voxels;

    float squares = 0.0f;
    for (int at = threadIdx.x * 4; at < voxels; at += kMoments * 4) {
        const float4 quad = load4(plane + at, voxels - at, aligned);
        const float parts[4] = {quad.x, quad.y, quad.z, quad.w};
        for (int p = 0; p < min(4, voxels - at); ++p) {
            const float deviation = parts[p] - mean;
            squares += deviation * deviation;
        }
    }
    const float variance = tree_sum(squares, scratch) / voxels;
    if (threadIdx.x == 0) {
        means[blockIdx.x] = mean;
        inverses[blockIdx.x] = rsqrtf(variance + eps);
    }
}

__global__ void clamp_multiply_max(const float* __restrict__ hidden,
                                   const float* __restrict__ means,
                                   const float* __restrict__ inverses,
                                   const float* __restrict__ multiplier, float* __restrict__ y,
                                   int out_channels, int voxels, float low, float high) {
    extern __shared__ float tables[];  // means, inverses and factors of the image's channels
    float* image_means = tables;
    float* image_inverses = tables + out_channels;
    float* factors = tables + 2 * out_channels;

    const int first_plane = blockIdx.y * out_channels;
    for (int c = threadIdx.x; c < out_channels; c += blockDim.x) {
        image_means[c] = means[first_plane + c];
        image_inverses[c] = inverses[first_plane + c];
        factors[c] = multiplier[c];
    }
    __syncthreads();

    const int voxel = blockIdx.x * blockDim.x + threadIdx.x;
    if (voxel >= voxels) {
        return;
    }
    const float* column = hidden + static_cast<long long>(first_plane) * voxels + voxel;
    float largest = -INFINITY;
    for (int c = 0; c < out_channels; ++c, column += voxels) {
        float value = (*column - image_means[c]) * image_inverses[c];
        value = clamp_to(value, low, high);
        value *= factors[c];
        largest = nan_max(largest, value);
    }
    y[static_cast<long long>(blockIdx.y) * voxels + voxel] = largest;
}
