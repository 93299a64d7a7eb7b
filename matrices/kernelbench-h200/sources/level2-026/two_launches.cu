// The same in two launches, as where the convolution comes from elsewhere: a gather that makes one
// voxel of four channels a thread, then the chain of elements in place, four at a time.

#include "deconv_source.cuh"
#include "fused_activations.cuh"

constexpr int kKernel = 3;
constexpr int kTaps = kKernel * kKernel * kKernel;
constexpr int kChannels = 4;

__global__ void __launch_bounds__(128)
deconv3d_gather(const float* __restrict__ x, const float* __restrict__ weight,
                const float* __restrict__ bias, float* __restrict__ y, int in_channels, int depth,
                int height, int width, int out_channels, int out_depth, int out_height,
                int out_width) {
    const int voxels = out_depth * out_height * out_width;
    const int voxel = blockIdx.x * blockDim.x + threadIdx.x;
    if (voxel >= voxels) {
        return;
    }
    const int od = voxel / (out_height * out_width);
    const int oh = voxel / out_width % out_height;
    const int ow = voxel % out_width;
    const int first_channel = blockIdx.y * kChannels;
    const int channels = min(kChannels, out_channels - first_channel);
    const int volume = depth * height * width;
    const float* image = x + static_cast<long long>(blockIdx.z) * in_channels * volume;

    float acc[kChannels] = {};
    for (int tap = 0; tap < kTaps; ++tap) {
        const int d = deconv_source(od, tap / 9, depth, 2, 1, 1);
        const int h = deconv_source(oh, tap / 3 % 3, height, 2, 1, 1);
        const int w = deconv_source(ow, tap % 3, width, 2, 1, 1);
        if (d < 0 || h < 0 || w < 0) {
            continue;
        }
        const float* source = image + (d * height + h) * width + w;
        for (int c = 0; c < in_channels; ++c) {
            const float value = source[c * volume];
            for (int o = 0; o < channels; ++o) {
                acc[o] += value * weight[(c * out_channels + first_channel + o) * kTaps + tap];
            }
        }
    }
    for (int o = 0; o < channels; ++o) {
        const int channel = first_channel + o;
        const long long plane = static_cast<long long>(blockIdx.z) * out_channels + channel;
        y[plane * voxels + voxel] = acc[o] + bias[channel];
    }
}

__device__ __forceinline__ float times_hardswish(float value) {
    return value * hardswish(value);
}

// Every axis of the output is even: its elements are a multiple of four.
__global__ void add_times_hardswish(float4* __restrict__ y, const float4* __restrict__ add_input,
                                    int quads) {
    const int step = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < quads; i += step) {
        const float4 more = add_input[i];
        float4 value = y[i];
        value.x += more.x;
        value.y += more.y;
        value.z += more.z;
        value.w += more.w;
        value.x = times_hardswish(value.x);
        value.y = times_hardswish(value.y);
        value.z = times_hardswish(value.z);
        value.w = times_hardswish(value.w);
        y[i] = value;
    }
}
