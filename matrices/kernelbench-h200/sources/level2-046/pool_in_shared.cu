// 3 x 3 convolution, a number subtracted, tanh, another number, then means over windows of 2 x 2.
// 16 x 8 threads make a tile of outputs of two channels; what the activation leaves of them goes to
// shared memory, and a quarter of the threads for each channel takes the means there.

#include "conv_stage.cuh"

constexpr int kKernel = 3;
constexpr int kTaps = kKernel * kKernel;
constexpr int kPool = 2;
constexpr int kTileW = 16;
constexpr int kTileH = 8;
constexpr int kCols = kTileW + kKernel - 1;
constexpr int kRows = kTileH + kKernel - 1;
constexpr int kPoolW = kTileW / kPool;
constexpr int kPoolH = kTileH / kPool;
constexpr int kChannels = 2;
constexpr int kThreads = kTileW * kTileH;

__global__ void conv2d_tanh_average(const float* __restrict__ x, const float* __restrict__ weight,
                                    const float* __restrict__ bias, float* __restrict__ y,
                                    int in_channels, int height, int width, int out_channels,
                                    int pool_height, int pool_width, float before, float after) {
    __shared__ float plane[kRows * kCols];
    __shared__ float taps[kChannels][kTaps];
    __shared__ float activated[kChannels][kTileH][kTileW];

    const int tid = threadIdx.y * kTileW + threadIdx.x;
    const int groups = (out_channels + kChannels - 1) / kChannels;
    const int image = blockIdx.z / groups;
    const int first_channel = blockIdx.z % groups * kChannels;
    const float* planes = x + static_cast<long long>(image) * in_channels * height * width;

    float acc[kChannels] = {};
    for (int c = 0; c < in_channels; ++c) {
        stage_plane(plane, kRows, kCols, planes, blockIdx.y * kTileH, blockIdx.x * kTileW, height,
                    width, tid, kThreads);
        if (tid < kChannels * kTaps) {
            const int channel = min(first_channel + tid / kTaps, out_channels - 1);
            taps[tid / kTaps][tid % kTaps] =
                weight[(channel * in_channels + c) * kTaps + tid % kTaps];
        }
        __syncthreads();
        for (int t = 0; t < kTaps; ++t) {
            const float value =
                plane[(threadIdx.y + t / kKernel) * kCols + threadIdx.x + t % kKernel];
            acc[0] += value * taps[0][t];
            acc[1] += value * taps[1][t];
        }
        planes += static_cast<long long>(height) * width;
        __syncthreads();
    }

    for (int o = 0; o < kChannels; ++o) {
        float value = acc[o] + bias[min(first_channel + o, out_channels - 1)];
        value -= before;
        value = tanhf(value);
        value -= after;
        activated[o][threadIdx.y][threadIdx.x] = value;
    }
    __syncthreads();

    const int o = tid / (kPoolH * kPoolW);
    const int row = blockIdx.y * kPoolH + tid / kPoolW % kPoolH;
    const int col = blockIdx.x * kPoolW + tid % kPoolW;
    const int channel = first_channel + o;
    if (o >= kChannels || channel >= out_channels || row >= pool_height || col >= pool_width) {
        return;
    }
    float sum = 0.0f;
    for (int i = 0; i < kPool; ++i) {
        for (int j = 0; j < kPool; ++j) {
            sum += activated[o][tid / kPoolW % kPoolH * kPool + i][tid % kPoolW * kPool + j];
        }
    }
    const long long plane_out = static_cast<long long>(image) * out_channels + channel;
    y[(plane_out * pool_height + row) * pool_width + col] = sum / (kPool * kPool);
}
