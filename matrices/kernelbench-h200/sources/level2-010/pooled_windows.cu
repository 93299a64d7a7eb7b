// 3 x 3 transposed convolution of stride 1 and padding 1, the largest of 2 x 2 windows, hardtanh,
// the mean of the plane, tanh. A thread makes the four outputs of a window, for two channels, and
// keeps the largest; blocks leave the sums of their windows, and a warp a plane adds these up.

#include "warp_reduce.cuh"
#include "block_reduce.cuh"
#include "fused_activations.cuh"
#include "pool_nan.cuh"

constexpr int kTaps = 9;
constexpr int kWindowsH = 4;
constexpr int kWindowsW = 16;
constexpr int kRows = 2 * kWindowsH + 2;
constexpr int kCols = 2 * kWindowsW + 2;
constexpr int kChannels = 2;
constexpr int kThreads = kWindowsH * kWindowsW;

__global__ void __launch_bounds__(kThreads)
deconv_max_hardtanh(const float* __restrict__ x, const float* __restrict__ weight,
                    const float* __restrict__ bias, float* __restrict__ partial, int in_channels,
                    int height, int width, int out_channels, int pool_height, int pool_width,
                    float hardtanh_min, float hardtanh_max) {
    __shared__ float patch[kRows][kCols];
    __shared__ float taps[kChannels][kTaps];
    __shared__ float warp_totals[kThreads / 32];

    const int tid = threadIdx.x;
    const int tiles_w = (pool_width + kWindowsW - 1) / kWindowsW;
    const int first_h = blockIdx.x / tiles_w * kWindowsH;
    const int first_w = blockIdx.x % tiles_w * kWindowsW;
    const int first_channel = blockIdx.y * kChannels;
    const int image = blockIdx.z;
    const int window_h = tid / kWindowsW;
    const int window_w = tid % kWindowsW;

    float acc[kChannels][4] = {};
    for (int c = 0; c < in_channels; ++c) {
        const float* plane =
            x + (static_cast<long long>(image) * in_channels + c) * height * width;
        for (int i = tid; i < kRows * kCols; i += kThreads) {
            const int row = 2 * first_h - 1 + i / kCols;
            const int col = 2 * first_w - 1 + i % kCols;
            const bool inside = row >= 0 && row < height && col >= 0 && col < width;
            patch[i / kCols][i % kCols] = inside ? plane[row * width + col] : 0.0f;
        }
        if (tid < kChannels * kTaps) {
            const int channel = min(first_channel + tid / kTaps, out_channels - 1);
            taps[tid / kTaps][tid % kTaps] =
                weight[(c * out_channels + channel) * kTaps + tid % kTaps];
        }
        __syncthreads();

        float own[4][4];
#pragma unroll
        for (int i = 0; i < 16; ++i) {
            own[i / 4][i % 4] = patch[2 * window_h + i / 4][2 * window_w + i % 4];
        }
#pragma unroll
        for (int tap = 0; tap < kTaps; ++tap) {
            // Tap (i, j) carries the input 1 - i rows and 1 - j columns on.
            const int row = 2 - tap / 3;
            const int col = 2 - tap % 3;
#pragma unroll
            for (int o = 0; o < kChannels; ++o) {
                acc[o][0] += own[row][col] * taps[o][tap];
                acc[o][1] += own[row][col + 1] * taps[o][tap];
                acc[o][2] += own[row + 1][col] * taps[o][tap];
                acc[o][3] += own[row + 1][col + 1] * taps[o][tap];
            }
        }
        __syncthreads();
    }

    const bool exists = first_h + window_h < pool_height && first_w + window_w < pool_width;
    for (int o = 0; o < kChannels && first_channel + o < out_channels; ++o) {
        const int channel = first_channel + o;
        float value = acc[o][0];
        for (int i = 1; i < 4; ++i) {
            value = nan_max(value, acc[o][i]);
        }
        value += bias[channel];  // the same for all four
        value = clamp_to(value, hardtanh_min, hardtanh_max);
        const float total = block_sum(exists ? value : 0.0f, warp_totals);
        if (tid == 0) {
            const int plane_out = image * out_channels + channel;
            partial[static_cast<long long>(plane_out) * gridDim.x + blockIdx.x] = total;
        }
    }
}

__global__ void average_tanh(const float* __restrict__ partial, float* __restrict__ y, int planes,
                             int tiles, int windows) {
    const int plane = blockIdx.x * blockDim.y + threadIdx.y;
    if (plane >= planes) {
        return;
    }
    float sum = 0.0f;
    for (int i = threadIdx.x; i < tiles; i += 32) {
        sum += partial[static_cast<long long>(plane) * tiles + i];
    }
    sum = warp_sum(sum);
    if (threadIdx.x == 0) {
        float value = sum / windows;
        value = tanhf(value);
        y[plane] = value;
    }
}
