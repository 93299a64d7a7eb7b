// 3 x 3 x 3 transposed convolution that doubles every axis, the largest of windows of 2 x 2 x 2,
// softmax of the channels, a vector subtracted, swish, the largest channel. A window is the eight
// outputs that begin at one input voxel. Eight lanes of a warp share a voxel, each has every eighth
// channel; what is needed of all channels goes between them by shuffles. A block holds all weights,
// and as there are few it takes several groups of voxels to make their loading worth it.

#include "deconv_octet.cuh"
#include "fused_activations.cuh"
#include "limits.cuh"
#include "pool_nan.cuh"

constexpr int kTaps = 27;
constexpr int kLanes = 8;
constexpr int kThreads = 128;
constexpr int kVoxels = kThreads / kLanes;

extern __shared__ float memory[];

__device__ __forceinline__ float lanes_max(float value) {
    for (int offset = kLanes / 2; offset > 0; offset >>= 1) {
        value = nan_max(value, __shfl_xor_sync(0xffffffffu, value, offset));
    }
    return value;
}

__device__ __forceinline__ float lanes_sum(float value) {
    for (int offset = kLanes / 2; offset > 0; offset >>= 1) {
        value += __shfl_xor_sync(0xffffffffu, value, offset);
    }
    return value;
}

__global__ void __launch_bounds__(kThreads)
deconv_max_softmax_max(const float* __restrict__ x, const float* __restrict__ weight,
                       const float* __restrict__ bias, const float* __restrict__ subtrahend,
                       float* __restrict__ y, int in_channels, int depth, int height, int width,
                       int out_channels) {
    const int weights = in_channels * out_channels * kTaps;
    float* taps = memory;
    float* kept = memory + weights;
    for (int i = threadIdx.x; i < weights; i += kThreads) {
        taps[i] = weight[i];
    }
    __syncthreads();

    const int lane = threadIdx.x % kLanes;
    const int slot = threadIdx.x / kLanes;
    const int voxels = depth * height * width;
    const float* image = x + static_cast<long long>(blockIdx.y) * in_channels * voxels;

    for (int first = blockIdx.x * kVoxels; first < voxels; first += gridDim.x * kVoxels) {
        // Lanes beyond the last voxel repeat it: all take part in the shuffles.
        const int voxel = min(first + slot, voxels - 1);
        const int d = voxel / (height * width);
        const int h = voxel / width % height;
        const int w = voxel % width;

        float top = -INFINITY;
        for (int o = lane; o < out_channels; o += kLanes) {
            float acc[8] = {};
            for (int c = 0; c < in_channels; ++c) {
                float inputs[8];
                octet_load(inputs, image + c * voxels, d, h, w, depth, height, width);
                octet_add(acc, inputs, taps + (c * out_channels + o) * kTaps);
            }
            float largest = -INFINITY;
#pragma unroll
            for (int i = 0; i < 8; ++i) {
                largest = nan_max(largest, acc[i] + bias[o]);
            }
            kept[o * kVoxels + slot] = largest;
            top = nan_max(top, largest);
        }
        top = lanes_max(top);

        float total = 0.0f;
        for (int o = lane; o < out_channels; o += kLanes) {
            const float e = expf(kept[o * kVoxels + slot] - top);
            kept[o * kVoxels + slot] = e;
            total += e;
        }
        total = lanes_sum(total);

        float best = -INFINITY;
        for (int o = lane; o < out_channels; o += kLanes) {
            float value = kept[o * kVoxels + slot] / total;
            value -= subtrahend[o];
            value = swish(value);
            best = nan_max(best, value);
        }
        best = lanes_max(best);
        if (lane == 0 && first + slot < voxels) {
            y[static_cast<long long>(blockIdx.y) * voxels + voxel] = best;
        }
    }
}
