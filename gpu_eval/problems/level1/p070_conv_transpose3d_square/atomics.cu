// 3 x 3 x 3 transposed convolution by its definition: one thread an input element, which adds its
// products with all taps of all output channels to the zeroed output.
#include "deconv_fill.cuh"

__global__ void conv_transpose3d_atomics(const float* __restrict__ x,
                                         const float* __restrict__ weight, float* __restrict__ y,
                                         int in_channels, int depth, int height, int width,
                                         int out_channels, int out_depth, int out_height,
                                         int out_width, int kernel, long long elements) {
    const long long index = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (index >= elements) {
        return;
    }
    const int w = static_cast<int>(index % width);
    const int h = static_cast<int>(index / width % height);
    const int d = static_cast<int>(index / width / height % depth);
    const int c = static_cast<int>(index / width / height / depth % in_channels);
    const long long image = index / width / height / depth / in_channels;

    const float value = x[index];
    const float* tap = weight + c * out_channels * kernel * kernel * kernel;
    for (int o = 0; o < out_channels; ++o) {
        float* out = y + (image * out_channels + o) * out_depth * out_height * out_width;
        for (int i = 0; i < kernel; ++i) {
            for (int j = 0; j < kernel; ++j) {
                for (int k = 0; k < kernel; ++k) {
                    atomicAdd(&out[((d + i) * out_height + h + j) * out_width + w + k],
                              value * *tap++);
                }
            }
        }
    }
}
