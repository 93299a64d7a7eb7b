// 2D max-pooling, one output a thread: taps outside the image are skipped, a NaN wins and stays.

#include "limits.cuh"

__global__ void maxpool2d_direct(const float* __restrict__ x, float* __restrict__ y, int height,
                                 int width, int out_height, int out_width, int kernel, int stride,
                                 int padding, int dilation) {
    const int out_col = blockIdx.x * blockDim.x + threadIdx.x;
    const int out_row = blockIdx.y * blockDim.y + threadIdx.y;
    const long long plane = blockIdx.z;
    if (out_row >= out_height || out_col >= out_width) {
        return;
    }

    const float* image = x + plane * height * width;
    const int first_row = out_row * stride - padding;
    const int first_col = out_col * stride - padding;

    float best = -INFINITY;
    for (int i = 0; i < kernel; ++i) {
        const int row = first_row + i * dilation;
        if (row < 0 || row >= height) {
            continue;
        }
        for (int j = 0; j < kernel; ++j) {
            const int col = first_col + j * dilation;
            if (col < 0 || col >= width) {
                continue;
            }
            const float value = image[row * width + col];
            if (value > best || value != value) {
                best = value;
            }
        }
    }
    y[(plane * out_height + out_row) * out_width + out_col] = best;
}
