// Strided and padded transposed convolution of volumes: a block takes 128 input voxels of one
// image and one output channel, sums over the input channels for one tap after another, and adds
// the sums to the zeroed output, where neighbouring voxels' taps overlap.
#include "deconv_fill.cuh"

__global__ void conv_transpose3d_scatter(const float* __restrict__ x,
                                         const float* __restrict__ weight, float* __restrict__ y,
                                         int in_channels, int depth, int height, int width,
                                         int out_channels, int out_depth, int out_height,
                                         int out_width, int kernel, int stride, int padding) {
    extern __shared__ float taps[];  // in_channels x kernel^3

    const int cube = kernel * kernel * kernel;
    const int channel = blockIdx.y;
    for (int i = threadIdx.x; i < in_channels * cube; i += blockDim.x) {
        taps[i] = weight[(i / cube * out_channels + channel) * cube + i % cube];
    }
    __syncthreads();

    const int voxels = depth * height * width;
    const int voxel = blockIdx.x * blockDim.x + threadIdx.x;
    if (voxel >= voxels) {
        return;
    }
    const float* image = x + static_cast<long long>(blockIdx.z) * in_channels * voxels;
    const int od = voxel / (height * width) * stride - padding;
    const int oh = voxel / width % height * stride - padding;
    const int ow = voxel % width * stride - padding;
    float* out = y + (static_cast<long long>(blockIdx.z) * out_channels + channel) * out_depth *
                         out_height * out_width;

    for (int tap = 0; tap < cube; ++tap) {
        const int d = od + tap / (kernel * kernel);
        const int h = oh + tap / kernel % kernel;
        const int w = ow + tap % kernel;
        if (d < 0 || d >= out_depth || h < 0 || h >= out_height || w < 0 || w >= out_width) {
            continue;
        }
        float sum = 0.0f;
        for (int c = 0; c < in_channels; ++c) {
            sum += image[static_cast<long long>(c) * voxels + voxel] * taps[c * cube + tap];
        }
        atomicAdd(out + (d * out_height + h) * out_width + w, sum);
    }
}
