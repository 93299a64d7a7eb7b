// Grouped, strided and padded transposed convolution of volumes: one output a thread, which tries
// every tap and skips those that fall between inputs or outside.
#include "deconv_source.cuh"

__global__ void conv_transpose3d_grouped_gather(
    const float* __restrict__ x, const float* __restrict__ weight, float* __restrict__ y,
    int group_in_channels, int depth, int height, int width, int group_out_channels, int out_depth,
    int out_height, int out_width, int kernel_depth, int kernel_height, int kernel_width,
    int stride_depth, int stride_height, int stride_width, int padding_depth, int padding_height,
    int padding_width, int groups) {
    const int voxels = out_depth * out_height * out_width;
    const int voxel = blockIdx.x * blockDim.x + threadIdx.x;
    if (voxel >= voxels) {
        return;
    }
    const int od = voxel / (out_height * out_width);
    const int oh = voxel / out_width % out_height;
    const int ow = voxel % out_width;
    const int channel = blockIdx.y;
    const int group = channel / group_out_channels;
    const int taps = kernel_depth * kernel_height * kernel_width;
    const int first_in = group * group_in_channels;
    const long long image = blockIdx.z;

    float sum = 0.0f;
    for (int c = first_in; c < first_in + group_in_channels; ++c) {
        const float* volume =
            x + (image * groups * group_in_channels + c) * depth * height * width;
        const float* own =
            weight + (c * group_out_channels + channel % group_out_channels) * taps;
        for (int i = 0; i < kernel_depth; ++i) {
            const int d = deconv_source(od, i, depth, stride_depth, padding_depth, 1);
            if (d < 0) continue;
            for (int j = 0; j < kernel_height; ++j) {
                const int h = deconv_source(oh, j, height, stride_height, padding_height, 1);
                if (h < 0) continue;
                for (int k = 0; k < kernel_width; ++k) {
                    const int w = deconv_source(ow, k, width, stride_width, padding_width, 1);
                    if (w < 0) continue;
                    sum += volume[(d * height + h) * width + w] *
                           own[(i * kernel_height + j) * kernel_width + k];
                }
            }
        }
    }
    const long long plane = image * groups * group_out_channels + channel;
    y[plane * voxels + voxel] = sum;
}
