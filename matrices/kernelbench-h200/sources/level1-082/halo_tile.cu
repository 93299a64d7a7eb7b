// Depthwise 3 x 3 convolution through a halo tile: a block of 32 x 8 threads stages the 34 x 10
// inputs of one channel under its outputs, and the channel's 9 weights beside them.

#include "conv_stage.cuh"

constexpr int kTileW = 32;
constexpr int kTileH = 8;
constexpr int kTaps = 3;
constexpr int kHaloW = kTileW + kTaps - 1;
constexpr int kHaloH = kTileH + kTaps - 1;

__global__ void depthwise_halo_tile(const float* __restrict__ x, const float* __restrict__ weight,
                                    float* __restrict__ y, int channels, int height, int width,
                                    int out_height, int out_width) {
    __shared__ float tile[kHaloH][kHaloW];
    __shared__ float filter[kTaps * kTaps];

    const int tid = threadIdx.y * kTileW + threadIdx.x;
    const int first_row = blockIdx.y * kTileH;
    const int first_col = blockIdx.x * kTileW;
    const long long plane = blockIdx.z;
    const int channel = blockIdx.z % channels;

    stage_plane(tile[0], kHaloH, kHaloW, x + plane * height * width, first_row, first_col, height,
                width, tid, kTileW * kTileH);
    if (tid < kTaps * kTaps) {
        filter[tid] = weight[channel * kTaps * kTaps + tid];
    }
    __syncthreads();

    const int row = first_row + threadIdx.y;
    const int col = first_col + threadIdx.x;
    if (row < out_height && col < out_width) {
        float sum = 0.0f;
#pragma unroll
        for (int i = 0; i < kTaps; ++i) {
#pragma unroll
            for (int j = 0; j < kTaps; ++j) {
                sum += tile[threadIdx.y + i][threadIdx.x + j] * filter[i * kTaps + j];
            }
        }
        y[(plane * out_height + row) * out_width + col] = sum;
    }
}
