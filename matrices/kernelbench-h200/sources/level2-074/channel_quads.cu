// 3 x 3 x 3 transposed convolution that doubles every axis, LeakyReLU, a factor of the channel,
// LeakyReLU again, the largest of windows of 2 x 2 x 2. A window is what one input voxel begins, so
// a thread makes its eight outputs, those of four channels at once: the weights of a tap for the
// four lie next to each other in shared memory and come with one load.

#include "deconv_octet.cuh"
#include "fused_activations.cuh"
#include "limits.cuh"
#include "pool_nan.cuh"

constexpr int kTaps = 27;
constexpr int kStage = 4;
constexpr int kChannels = 4;
constexpr int kThreads = 64;

__global__ void __launch_bounds__(kThreads)
deconv_quads_leaky_max(const float* __restrict__ x, const float* __restrict__ weight,
                       const float* __restrict__ bias, const float* __restrict__ multiplier,
                       float* __restrict__ y, int in_channels, int depth, int height, int width,
                       int out_channels, float slope) {
    __shared__ float4 taps[kStage * kTaps];

    const int voxels = depth * height * width;
    const int voxel = blockIdx.x * kThreads + threadIdx.x;
    const int d = voxel / (height * width);
    const int h = voxel / width % height;
    const int w = voxel % width;
    const int first_channel = blockIdx.y * kChannels;
    const float* image = x + static_cast<long long>(blockIdx.z) * in_channels * voxels;

    float acc[8][kChannels] = {};
    for (int c0 = 0; c0 < in_channels; c0 += kStage) {
        const int staged = min(kStage, in_channels - c0);
        for (int i = threadIdx.x; i < staged * kTaps; i += kThreads) {
            const int row = (c0 + i / kTaps) * out_channels;
            float own[kChannels];
#pragma unroll
            for (int o = 0; o < kChannels; ++o) {
                // Channels beyond the last take its weights and are not stored.
                const int channel = min(first_channel + o, out_channels - 1);
                own[o] = weight[(row + channel) * kTaps + i % kTaps];
            }
            taps[i] = make_float4(own[0], own[1], own[2], own[3]);
        }
        __syncthreads();

        for (int c = 0; c < staged; ++c) {
            float inputs[8];
            octet_load(inputs, image + (c0 + c) * voxels, d, h, w, depth, height, width);
#pragma unroll
            for (int out = 0; out < 8; ++out) {
#pragma unroll
                for (int in = 0; in < 8; ++in) {
                    if ((in & ~out) != 0) {
                        continue;
                    }
                    const int i = octet_tap(out >> 2, in >> 2);
                    const int j = octet_tap(out >> 1 & 1, in >> 1 & 1);
                    const int k = octet_tap(out & 1, in & 1);
                    const float4 quad = taps[c * kTaps + (i * 3 + j) * 3 + k];
                    acc[out][0] += inputs[in] * quad.x;
                    acc[out][1] += inputs[in] * quad.y;
                    acc[out][2] += inputs[in] * quad.z;
                    acc[out][3] += inputs[in] * quad.w;
                }
            }
        }
        __syncthreads();
    }
    if (voxel >= voxels) {
        return;
    }

#pragma unroll
    for (int o = 0; o < kChannels; ++o) {
        const int channel = first_channel + o;
        if (channel >= out_channels) {
            return;
        }
        float largest = -INFINITY;
#pragma unroll
        for (int i = 0; i < 8; ++i) {
            float value = acc[i][o] + bias[channel];
            value = leaky_relu(value, slope);
            value *= multiplier[channel];
            value = leaky_relu(value, slope);
            largest = nan_max(largest, value);
        }
        y[(static_cast<long long>(blockIdx.z) * out_channels + channel) * voxels + voxel] = largest;
    }
}
