// 3 x 3 convolution of which only the smallest channel is kept, then tanh twice. A block stages its
// window of all input channels once; each thread then makes its pixel's output channels eight at a
// time and keeps the smallest value in a register, so that nothing but the result is written.

#include "limits.cuh"
#include "pool_nan.cuh"

constexpr int kKernel = 3;
constexpr int kTaps = kKernel * kKernel;
constexpr int kCols = 16;
constexpr int kRows = 8;
constexpr int kHaloCols = kCols + kKernel - 1;
constexpr int kHaloRows = kRows + kKernel - 1;
constexpr int kHalo = kHaloRows * kHaloCols;
constexpr int kAtOnce = 8;

__global__ void conv2d_min_tanh_tanh(const float* __restrict__ x, const float* __restrict__ weight,
                                     const float* __restrict__ bias, float* __restrict__ y,
                                     int in_channels, int height, int width, int out_channels,
                                     int out_height, int out_width) {
    extern __shared__ float windows[];  // in_channels x kHaloRows x kHaloCols

    const int first_row = blockIdx.y * kRows;
    const int first_col = blockIdx.x * kCols;
    const long long image = blockIdx.z;
    const int tid = threadIdx.y * kCols + threadIdx.x;
    for (int i = tid; i < in_channels * kHalo; i += kCols * kRows) {
        const int c = i / kHalo;
        const int row = first_row + i % kHalo / kHaloCols;
        const int col = first_col + i % kHaloCols;
        windows[i] = row < height && col < width
                         ? x[((image * in_channels + c) * height + row) * width + col]
                         : 0.0f;
    }
    __syncthreads();

    const int row = first_row + threadIdx.y;
    const int col = first_col + threadIdx.x;
    if (row >= out_height || col >= out_width) {
        return;
    }

    const float* corner = windows + threadIdx.y * kHaloCols + threadIdx.x;
    const int terms = in_channels * kTaps;
    float smallest = INFINITY;
    for (int o0 = 0; o0 < out_channels; o0 += kAtOnce) {
        const int own = min(kAtOnce, out_channels - o0);
        float acc[kAtOnce] = {};
        for (int k = 0; k < terms; ++k) {
            const int tap = k % kTaps;
            const float value =
                corner[k / kTaps * kHalo + tap / kKernel * kHaloCols + tap % kKernel];
            for (int o = 0; o < own; ++o) {
                acc[o] += value * weight[(o0 + o) * terms + k];
            }
        }
        for (int o = 0; o < own; ++o) {
            smallest = nan_min(smallest, acc[o] + bias[o0 + o]);
        }
    }
    float value = tanhf(smallest);
    value = tanhf(value);
    y[(image * out_height + row) * out_width + col] = value;
}
