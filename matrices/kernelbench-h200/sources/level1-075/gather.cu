// Grouped, strided, padded and dilated transposed convolution of images: one output a thread,
// which tries every tap and skips those that fall between inputs or outside.
#include "deconv_source.cuh"

constexpr int kKernelH = 3;
constexpr int kKernelW = 5;

__global__ void conv_transpose2d_grouped_gather(
    const float* __restrict__ x, const float* __restrict__ weight, float* __restrict__ y,
    int in_per_group, int height, int width, int out_per_group, int groups, int out_height,
    int out_width, int stride_h, int stride_w, int padding_h, int padding_w, int dilation_h,
    int dilation_w) {
    const int col = blockIdx.x * blockDim.x + threadIdx.x;
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    const int channels = groups * out_per_group;
    const int channel_blocks = (channels + blockDim.z - 1) / blockDim.z;
    const int channel = blockIdx.z % channel_blocks * blockDim.z + threadIdx.z;
    const int image = blockIdx.z / channel_blocks;
    if (col >= out_width || row >= out_height || channel >= channels) {
        return;
    }

    // Columns do not depend on the channel: find them once.
    int source_w[kKernelW];
    for (int j = 0; j < kKernelW; ++j) {
        source_w[j] = deconv_source(col, j, width, stride_w, padding_w, dilation_w);
    }

    const int group = channel / out_per_group;
    float sum = 0.0f;
    for (int i = 0; i < kKernelH; ++i) {
        const int source_h = deconv_source(row, i, height, stride_h, padding_h, dilation_h);
        if (source_h < 0) {
            continue;
        }
        for (int c = group * in_per_group; c < (group + 1) * in_per_group; ++c) {
            const long long plane = static_cast<long long>(image) * groups * in_per_group + c;
            const float* line = x + (plane * height + source_h) * width;
            const float* taps =
                weight + ((c * out_per_group + channel % out_per_group) * kKernelH + i) * kKernelW;
            for (int j = 0; j < kKernelW; ++j) {
                if (source_w[j] >= 0) {
                    sum += line[source_w[j]] * taps[j];
                }
            }
        }
    }
    const long long plane = static_cast<long long>(image) * channels + channel;
    y[(plane * out_height + row) * out_width + col] = sum;
}
