// 2D convolution of any kernel size through a halo tile in dynamic shared memory: one input channel
// at a time for 32 x 4 output pixels and 4 output channels. The filters of the 4 channels follow
// the tile in the same shared array.

#include "conv_stage.cuh"

constexpr int kCols = 32;
constexpr int kRows = 4;
constexpr int kChannels = 4;

__global__ void conv2d_halo_generic(const float* __restrict__ x, const float* __restrict__ weight,
                                    float* __restrict__ y, int in_channels, int height, int width,
                                    int out_channels, int out_height, int out_width,
                                    int kernel_height, int kernel_width) {
    extern __shared__ float shared[];

    const int halo_cols = kCols + kernel_width - 1;
    const int halo_rows = kRows + kernel_height - 1;
    const int taps = kernel_height * kernel_width;
    float* tile = shared;
    float* filters = shared + halo_rows * halo_cols;

    const int tid = threadIdx.x + threadIdx.y * blockDim.x;
    const int threads = blockDim.x * blockDim.y;
    const int groups = (out_channels + kChannels - 1) / kChannels;
    const int image = blockIdx.z / groups;
    const int first_channel = (blockIdx.z % groups) * kChannels;
    const int first_row = blockIdx.y * kRows;
    const int first_col = blockIdx.x * kCols;

    float acc[kChannels] = {};
    const float* plane = x + static_cast<long long>(image) * in_channels * height * width;
    for (int c = 0; c < in_channels; ++c, plane += height * width) {
        stage_plane(tile, halo_rows, halo_cols, plane, first_row, first_col, height, width, tid,
                    threads);
        for (int i = tid; i < kChannels * taps; i += threads) {
            // Threads past the last channel read the last one's filter and store nothing later.
            const int channel = min(first_channel + i / taps, out_channels - 1);
            filters[i] = weight[(channel * in_channels + c) * taps + i % taps];
        }
        __syncthreads();
        for (int i = 0; i < kernel_height; ++i) {
            const float* line = tile + (threadIdx.y + i) * halo_cols + threadIdx.x;
            for (int j = 0; j < kernel_width; ++j) {
                const float* filter = filters + i * kernel_width + j;
                for (int r = 0; r < kChannels; ++r) {
                    acc[r] = fmaf(line[j], filter[r * taps], acc[r]);
                }
            }
        }
        __syncthreads();
    }

    const int row = first_row + threadIdx.y;
    const int col = first_col + threadIdx.x;
    if (row < out_height && col < out_width) {
        for (int r = 0; r < kChannels && first_channel + r < out_channels; ++r) {
            const long long out = static_cast<long long>(image) * out_channels + first_channel + r;
            y[(out * out_height + row) * out_width + col] = acc[r];
        }
    }
}
