// 3 x 3 x 3 transposed convolution that doubles every axis, a second input added, the sum times its
// hardswish. A thread makes the 2 x 2 x 2 outputs of one input voxel. The 27 weights of a group of
// input channels wait in shared memory; a block belongs to one output channel.

#include "deconv_octet.cuh"
#include "fused_activations.cuh"

constexpr int kTaps = 27;
constexpr int kStage = 8;

__global__ void __launch_bounds__(64)
deconv_octets_add_hardswish(const float* __restrict__ x, const float* __restrict__ add_input,
                            const float* __restrict__ weight, const float* __restrict__ bias,
                            float* __restrict__ y, int in_channels, int depth, int height,
                            int width, int out_channels) {
    __shared__ float taps[kStage * kTaps];

    const int voxels = depth * height * width;
    const int voxel = blockIdx.x * blockDim.x + threadIdx.x;
    const int channel = blockIdx.y;
    // Threads beyond the last voxel help to load and read zeros: their depth is outside.
    const int d = voxel / (height * width);
    const int h = voxel / width % height;
    const int w = voxel % width;
    const float* image = x + static_cast<long long>(blockIdx.z) * in_channels * voxels;

    float acc[8] = {};
    for (int c0 = 0; c0 < in_channels; c0 += kStage) {
        const int staged = min(kStage, in_channels - c0);
        for (int i = threadIdx.x; i < staged * kTaps; i += blockDim.x) {
            const int c = c0 + i / kTaps;
            taps[i] = weight[(c * out_channels + channel) * kTaps + i % kTaps];
        }
        __syncthreads();
        for (int c = 0; c < staged; ++c) {
            float inputs[8];
            octet_load(inputs, image + (c0 + c) * voxels, d, h, w, depth, height, width);
            octet_add(acc, inputs, taps + c * kTaps);
        }
        __syncthreads();
    }
    if (voxel >= voxels) {
        return;
    }

    const long long plane = static_cast<long long>(blockIdx.z) * out_channels + channel;
    const float own_bias = bias[channel];
#pragma unroll
    for (int i = 0; i < 8; ++i) {
        const int row = (2 * d + (i >> 2)) * 2 * height + 2 * h + (i >> 1 & 1);
        const long long place = plane * voxels * 8 + row * 2 * width + 2 * w + (i & 1);
        float value = acc[i] + own_bias;
        value += add_input[place];
        value *= hardswish(value);
        y[place] = value;
    }
}
