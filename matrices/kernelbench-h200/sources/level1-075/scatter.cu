// Grouped, strided, padded and dilated transposed convolution of images by its definition: a
// thread has an input pixel and an output channel, sums over the group's input channels for each
// tap and adds to the zeroed output, where taps of neighbouring pixels meet.
#include "deconv_fill.cuh"

__global__ void conv_transpose2d_grouped_scatter(
    const float* __restrict__ x, const float* __restrict__ weight, float* __restrict__ y,
    int in_per_group, int height, int width, int out_per_group, int groups, int out_height,
    int out_width, int kernel_h, int kernel_w, int stride_h, int stride_w, int padding_h,
    int padding_w, int dilation_h, int dilation_w) {
    const int pixels = height * width;
    const int pixel = blockIdx.x * blockDim.x + threadIdx.x;
    const int channel = blockIdx.y * blockDim.y + threadIdx.y;
    if (pixel >= pixels || channel >= groups * out_per_group) {
        return;
    }
    const int first = channel / out_per_group * in_per_group;
    const int member = channel % out_per_group;
    const long long image = blockIdx.z;
    const float* own = x + (image * groups * in_per_group + first) * pixels + pixel;
    float* out = y + (image * groups * out_per_group + channel) * out_height * out_width;

    const int top = pixel / width * stride_h - padding_h;
    const int left = pixel % width * stride_w - padding_w;
    for (int i = 0; i < kernel_h; ++i) {
        const int row = top + i * dilation_h;
        if (row < 0 || row >= out_height) continue;
        for (int j = 0; j < kernel_w; ++j) {
            const int col = left + j * dilation_w;
            if (col < 0 || col >= out_width) continue;
            float product = 0.0f;
            for (int c = 0; c < in_per_group; ++c) {
                const int tap =
                    (((first + c) * out_per_group + member) * kernel_h + i) * kernel_w + j;
                product += own[static_cast<long long>(c) * pixels] * weight[tap];
            }
            atomicAdd(out + row * out_width + col, product);
        }
    }
}
