// 3D max-pooling, one output a thread in blocks of 8 x 4 x 4, taps outside the volume skipped.

#include "limits.cuh"
#include "pool_nan.cuh"

__global__ void maxpool3d_direct(const float* __restrict__ x, float* __restrict__ y, int depth,
                                 int height, int width, int out_depth, int out_height,
                                 int out_width, int depth_blocks, int kernel, int stride,
                                 int padding, int dilation) {
    const int out_col = blockIdx.x * blockDim.x + threadIdx.x;
    const int out_row = blockIdx.y * blockDim.y + threadIdx.y;
    const int out_slice = (blockIdx.z % depth_blocks) * blockDim.z + threadIdx.z;
    const long long plane = blockIdx.z / depth_blocks;
    if (out_col >= out_width || out_row >= out_height || out_slice >= out_depth) {
        return;
    }

    const float* volume = x + plane * depth * height * width;
    float best = -INFINITY;
    for (int i = 0; i < kernel; ++i) {
        const int slice = out_slice * stride - padding + i * dilation;
        if (slice < 0 || slice >= depth) {
            continue;
        }
        for (int j = 0; j < kernel; ++j) {
            const int row = out_row * stride - padding + j * dilation;
            if (row < 0 || row >= height) {
                continue;
            }
            const float* line = volume + (slice * height + row) * width;
            for (int k = 0; k < kernel; ++k) {
                const int col = out_col * stride - padding + k * dilation;
                if (col >= 0 && col < width) {
                    best = nan_max(best, line[col]);
                }
            }
        }
    }
    y[((plane * out_depth + out_slice) * out_height + out_row) * out_width + out_col] = best;
}
