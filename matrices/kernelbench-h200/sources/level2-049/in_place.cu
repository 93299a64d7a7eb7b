// The same in two launches. The first writes logits: a thread makes one output voxel of a channel,
// its block stages that channel's weights, and only taps of the voxel's own parities are met. The
// second reads a voxel's channels once with a running maximum and sum, and once more to write.

#include "deconv_source.cuh"
#include "fused_activations.cuh"
#include "limits.cuh"

constexpr int kKernel = 3;
constexpr int kTaps = kKernel * kKernel * kKernel;
constexpr int kStride = 2;
constexpr int kPadding = 1;

extern __shared__ float taps[];

__global__ void __launch_bounds__(128)
deconv3d_logits(const float* __restrict__ x, const float* __restrict__ weight,
                const float* __restrict__ bias, float* __restrict__ y, int in_channels, int depth,
                int height, int width, int out_channels, int out_depth, int out_height,
                int out_width) {
    const int channel = blockIdx.y;
    for (int i = threadIdx.x; i < in_channels * kTaps; i += blockDim.x) {
        taps[i] = weight[(i / kTaps * out_channels + channel) * kTaps + i % kTaps];
    }
    __syncthreads();

    const int voxels = out_depth * out_height * out_width;
    const int voxel = blockIdx.x * blockDim.x + threadIdx.x;
    if (voxel >= voxels) {
        return;
    }
    const int od = voxel / (out_height * out_width);
    const int oh = voxel / out_width % out_height;
    const int ow = voxel % out_width;
    const int volume = depth * height * width;
    const float* image = x + static_cast<long long>(blockIdx.z) * in_channels * volume;

    float value = bias[channel];
    for (int i = (od + kPadding) % kStride; i < kKernel; i += kStride) {
        const int d = deconv_source(od, i, depth, kStride, kPadding, 1);
        for (int j = (oh + kPadding) % kStride; j < kKernel; j += kStride) {
            const int h = deconv_source(oh, j, height, kStride, kPadding, 1);
            for (int k = (ow + kPadding) % kStride; k < kKernel; k += kStride) {
                const int w = deconv_source(ow, k, width, kStride, kPadding, 1);
                if (d < 0 || h < 0 || w < 0) {
                    continue;
                }
                const float* source = image + (d * height + h) * width + w;
                const float* own = taps + (i * kKernel + j) * kKernel + k;
                for (int c = 0; c < in_channels; ++c) {
                    value += source[c * volume] * own[c * kTaps];
                }
            }
        }
    }
    const long long plane = static_cast<long long>(blockIdx.z) * out_channels + channel;
    y[plane * voxels + voxel] = value;
}

__global__ void softmax_sigmoid_in_place(float* __restrict__ y, int out_channels, int voxels) {
    const int voxel = blockIdx.x * blockDim.x + threadIdx.x;
    if (voxel >= voxels) {
        return;
    }
    float* own = y + static_cast<long long>(blockIdx.y) * out_channels * voxels + voxel;

    // A finite beginning: the difference of two infinities would be no number.
    float top = -FLT_MAX;
    float total = 0.0f;
    for (int o = 0; o < out_channels; ++o) {
        const float logit = own[o * voxels];
        const float higher = fmaxf(top, logit);
        total = total * expf(top - higher) + expf(logit - higher);
        top = higher;
    }
    for (int o = 0; o < out_channels; ++o) {
        float value = expf(own[o * voxels] - top) / total;
        value = logistic(value);
        own[o * voxels] = value;
    }
}
