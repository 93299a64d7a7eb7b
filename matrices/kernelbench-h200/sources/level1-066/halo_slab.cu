// 3 x 5 x 7 convolution through a slab in shared memory: for one output layer a block of 16 x 8
// threads stages the three input layers that it needs of one channel, halo included, and makes 12
// output channels.

#include "conv_stage.cuh"

constexpr int kTileW = 16;
constexpr int kTileH = 8;
constexpr int kTapsD = 3;
constexpr int kTapsH = 5;
constexpr int kTapsW = 7;
constexpr int kTaps = kTapsD * kTapsH * kTapsW;
constexpr int kChannels = 12;
constexpr int kHaloW = kTileW + kTapsW - 1;
constexpr int kHaloH = kTileH + kTapsH - 1;
constexpr int kThreads = kTileW * kTileH;

__global__ void conv3d_halo_slab(const float* __restrict__ x, const float* __restrict__ weight,
                                 float* __restrict__ y, int in_channels, int depth, int height,
                                 int width, int out_channels, int out_depth, int out_height,
                                 int out_width) {
    __shared__ float slab[kTapsD][kHaloH][kHaloW];
    __shared__ float filters[kTaps][kChannels];

    const int tid = threadIdx.y * kTileW + threadIdx.x;
    const int groups = (out_channels + kChannels - 1) / kChannels;
    const int layer = blockIdx.z % out_depth;
    const int first_channel = blockIdx.z / out_depth % groups * kChannels;
    const long long image = blockIdx.z / out_depth / groups;
    const int first_row = blockIdx.y * kTileH;
    const int first_col = blockIdx.x * kTileW;

    float acc[kChannels] = {};
    for (int c = 0; c < in_channels; ++c) {
        for (int k = 0; k < kTapsD; ++k) {
            const long long plane = (image * in_channels + c) * depth + layer + k;
            stage_plane(slab[k][0], kHaloH, kHaloW, x + plane * height * width, first_row,
                        first_col, height, width, tid, kThreads);
        }
        for (int i = tid; i < kTaps * kChannels; i += kThreads) {
            const int channel = first_channel + i % kChannels;
            const int tap = i / kChannels;
            filters[tap][i % kChannels] = channel < out_channels
                                              ? weight[(channel * in_channels + c) * kTaps + tap]
                                              : 0.0f;
        }
        __syncthreads();

        int tap = 0;
        for (int k = 0; k < kTapsD; ++k) {
            for (int i = 0; i < kTapsH; ++i) {
                for (int j = 0; j < kTapsW; ++j, ++tap) {
                    const float value = slab[k][threadIdx.y + i][threadIdx.x + j];
#pragma unroll
                    for (int r = 0; r < kChannels; ++r) {
                        acc[r] += value * filters[tap][r];
                    }
                }
            }
        }
        __syncthreads();
    }

    const int row = first_row + threadIdx.y;
    const int col = first_col + threadIdx.x;
    for (int r = 0; r < kChannels; ++r) {
        const int channel = first_channel + r;
        if (channel < out_channels && row < out_height && col < out_width) {
            const long long plane = (image * out_channels + channel) * out_depth + layer;
            y[(plane * out_height + row) * out_width + col] = acc[r];
        }
    }
}
