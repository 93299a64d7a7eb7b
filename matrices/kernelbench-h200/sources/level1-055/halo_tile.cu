// 3 x 3 convolution through a halo tile: a block of 16 x 8 threads makes 16 x 8 output pixels of
// 8 output channels. It stages the input of 4 channels at a time together with their weights;
// each thread keeps the 8 channels of its pixel in registers.

#include "conv_stage.cuh"

constexpr int kTileW = 16;
constexpr int kTileH = 8;
constexpr int kTaps = 3;
constexpr int kChannels = 8;
constexpr int kDepth = 4;
constexpr int kThreads = kTileW * kTileH;
constexpr int kHaloW = kTileW + kTaps - 1;
constexpr int kHaloH = kTileH + kTaps - 1;

__global__ void conv2d_halo_tile(const float* __restrict__ x, const float* __restrict__ weight,
                                 float* __restrict__ y, int in_channels, int height, int width,
                                 int out_channels, int out_height, int out_width) {
    __shared__ float tile[kDepth][kHaloH][kHaloW];
    __shared__ float filters[kChannels][kDepth][kTaps * kTaps];

    const int groups = (out_channels + kChannels - 1) / kChannels;
    const int image = blockIdx.z / groups;
    const int first_channel = (blockIdx.z % groups) * kChannels;
    const int first_row = blockIdx.y * kTileH;
    const int first_col = blockIdx.x * kTileW;
    const int tid = threadIdx.y * kTileW + threadIdx.x;

    float acc[kChannels] = {};
    for (int c0 = 0; c0 < in_channels; c0 += kDepth) {
        for (int d = 0; d < kDepth; ++d) {
            const bool present = c0 + d < in_channels;
            const long long plane = static_cast<long long>(image) * in_channels + c0 + d;
            stage_plane(&tile[d][0][0], kHaloH, kHaloW, x + plane * height * width, first_row,
                        first_col, present ? height : 0, width, tid, kThreads);
        }
        for (int i = tid; i < kChannels * kDepth * kTaps * kTaps; i += kThreads) {
            const int channel = i / (kDepth * kTaps * kTaps);
            const int tap = i % (kDepth * kTaps * kTaps);
            const int c = c0 + tap / (kTaps * kTaps);
            const bool inside = first_channel + channel < out_channels && c < in_channels;
            const int row = (first_channel + channel) * in_channels + c0;
            filters[channel][tap / (kTaps * kTaps)][tap % (kTaps * kTaps)] =
                inside ? weight[row * kTaps * kTaps + tap] : 0.0f;
        }
        __syncthreads();

        for (int d = 0; d < kDepth; ++d) {
#pragma unroll
            for (int i = 0; i < kTaps; ++i) {
#pragma unroll
                for (int j = 0; j < kTaps; ++j) {
                    const float value = tile[d][threadIdx.y + i][threadIdx.x + j];
#pragma unroll
                    for (int r = 0; r < kChannels; ++r) {
                        acc[r] += value * filters[r][d][i * kTaps + j];
                    }
                }
            }
        }
        __syncthreads();
    }

    const int row = first_row + threadIdx.y;
    const int col = first_col + threadIdx.x;
    if (row >= out_height || col >= out_width) {
        return;
    }
    for (int r = 0; r < kChannels; ++r) {
        const int channel = first_channel + r;
        if (channel < out_channels) {
            const long long plane = static_cast<long long>(image) * out_channels + channel;
            y[(plane * out_height + row) * out_width + col] = acc[r];
        }
    }
}
