// Depthwise convolution of any kernel size through a halo tile in dynamic shared memory; a block of
// 32 x 4 threads makes 32 columns x 16 rows of one channel, each thread four rows, 4 apart.

#include "conv_stage.cuh"

constexpr int kCols = 32;
constexpr int kLanes = 4;
constexpr int kRows = 16;

__global__ void depthwise_halo_strips(const float* __restrict__ x,
                                      const float* __restrict__ weight, float* __restrict__ y,
                                      int channels, int height, int width, int out_height,
                                      int out_width, int kernel_height, int kernel_width) {
    extern __shared__ float tile[];

    const int pitch = kCols + kernel_width - 1;
    const int lines = kRows + kernel_height - 1;
    const int channel = blockIdx.x % channels;
    const long long plane = blockIdx.x;
    const int first_row = blockIdx.z * kRows;
    const int first_col = blockIdx.y * kCols;
    stage_plane(tile, lines, pitch, x + plane * height * width, first_row, first_col, height,
                width, threadIdx.y * kCols + threadIdx.x, kCols * kLanes);
    __syncthreads();

    const int col = first_col + threadIdx.x;
    if (col >= out_width) {
        return;
    }
    const float* filter = weight + channel * kernel_height * kernel_width;
    for (int line = threadIdx.y; line < kRows; line += kLanes) {
        const int row = first_row + line;
        if (row >= out_height) {
            break;
        }
        float sum = 0.0f;
        for (int i = 0; i < kernel_height; ++i) {
            for (int j = 0; j < kernel_width; ++j) {
                sum += tile[(line + i) * pitch + threadIdx.x + j] * filter[i * kernel_width + j];
            }
        }
        y[(plane * out_height + row) * out_width + col] = sum;
    }
}
