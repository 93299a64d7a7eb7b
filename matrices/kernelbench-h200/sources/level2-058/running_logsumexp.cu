// 3 x 3 x 3 transposed convolution of stride 2 and padding 1, logsumexp of the channels, that times
// its logistic of three more over six, a number subtracted, clamped. All weights fit into shared
// memory; a thread has one output voxel, makes its channels one after the other and keeps their
// running maximum and sum, so that no channel is ever written.

#include "deconv_source.cuh"
#include "fused_activations.cuh"
#include "limits.cuh"

constexpr int kKernel = 3;
constexpr int kTaps = kKernel * kKernel * kKernel;
constexpr int kStride = 2;
constexpr int kPadding = 1;

extern __shared__ float taps[];

__global__ void __launch_bounds__(128)
deconv_logsumexp_clamp(const float* __restrict__ x, const float* __restrict__ weight,
                       const float* __restrict__ bias, const float* __restrict__ subtrahend,
                       float* __restrict__ y, int in_channels, int depth, int height, int width,
                       int out_channels, int out_depth, int out_height, int out_width,
                       float clamp_min, float clamp_max) {
    for (int i = threadIdx.x; i < in_channels * out_channels * kTaps; i += blockDim.x) {
        taps[i] = weight[i];
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
    const float* image = x + static_cast<long long>(blockIdx.y) * in_channels * volume;

    int sources[8];
    int reached[8];
    int reaching = 0;
    for (int tap = 0; tap < kTaps; ++tap) {
        const int d = deconv_source(od, tap / 9, depth, kStride, kPadding, 1);
        const int h = deconv_source(oh, tap / 3 % 3, height, kStride, kPadding, 1);
        const int w = deconv_source(ow, tap % 3, width, kStride, kPadding, 1);
        if (d >= 0 && h >= 0 && w >= 0) {
            sources[reaching] = (d * height + h) * width + w;
            reached[reaching] = tap;
            ++reaching;
        }
    }

    float top = -INFINITY;
    float total = 0.0f;
    for (int o = 0; o < out_channels; ++o) {
        float acc = bias[o];
        for (int c = 0; c < in_channels; ++c) {
            for (int n = 0; n < reaching; ++n) {
                acc += image[c * volume + sources[n]] *
                       taps[(c * out_channels + o) * kTaps + reached[n]];
            }
        }
        if (acc > top) {
            total = total * expf(top - acc) + 1.0f;
            top = acc;
        } else {
            total += expf(acc - top);
        }
    }

    float value = top + logf(total);
    value = value * logistic(value + 3.0f) / 6.0f;
    value -= subtrahend[0];
    value = clamp_to(value, clamp_min, clamp_max);
    y[static_cast<long long>(blockIdx.y) * voxels + voxel] = value;
}
