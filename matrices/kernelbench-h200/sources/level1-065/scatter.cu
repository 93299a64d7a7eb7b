// 3 x 7 transposed convolution by its definition: one thread an input pixel and output channel,
// which sums over a part of the input channels and adds its product with every tap to the zeroed
// output. Parts and neighbours meet in the same outputs, hence atomics.
#include "deconv_fill.cuh"

__global__ void conv_transpose2d_scatter(const float* __restrict__ x,
                                         const float* __restrict__ weight, float* __restrict__ y,
                                         int in_channels, int height, int width, int out_channels,
                                         int kernel_height, int kernel_width, int part) {
    const int out_height = height + kernel_height - 1;
    const int out_width = width + kernel_width - 1;
    const int pixel = blockIdx.x * blockDim.x + threadIdx.x;
    if (pixel >= height * width) {
        return;
    }
    const int row = pixel / width;
    const int col = pixel % width;
    const int channel = blockIdx.y;
    const int parts = (in_channels + part - 1) / part;
    const int image = blockIdx.z / parts;
    const int begin = blockIdx.z % parts * part;
    const int end = min(begin + part, in_channels);

    const size_t plane = static_cast<size_t>(height) * width;
    const float* own = x + static_cast<size_t>(image) * in_channels * plane + pixel;
    float* out = y + (static_cast<size_t>(image) * out_channels + channel) * out_height * out_width;
    for (int i = 0; i < kernel_height; i++) {
        for (int j = 0; j < kernel_width; j++) {
            float sum = 0.0f;
            for (int c = begin; c < end; c++) {
                const int tap = ((c * out_channels + channel) * kernel_height + i) * kernel_width + j;
                sum += own[c * plane] * weight[tap];
            }
            atomicAdd(&out[(row + i) * out_width + col + j], sum);
        }
    }
}
