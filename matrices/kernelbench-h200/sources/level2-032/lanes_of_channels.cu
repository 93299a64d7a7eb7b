// 3 x 3 convolution, a factor, the smallest of the channels. Eight lanes share a pixel: each makes
// every eighth output channel, two at a time, and keeps its smallest; shuffles find the smallest of
// the eight. A block has 4 x 4 pixels, whose inputs of all channels it stages once.

#include "limits.cuh"
#include "pool_nan.cuh"

constexpr int kKernel = 3;
constexpr int kTaps = kKernel * kKernel;
constexpr int kLanes = 8;
constexpr int kSide = 4;
constexpr int kHalo = kSide + kKernel - 1;
constexpr int kThreads = kLanes * kSide * kSide;

__global__ void __launch_bounds__(kThreads)
conv2d_scale_min(const float* __restrict__ x, const float* __restrict__ weight,
                 const float* __restrict__ bias, float* __restrict__ y, int in_channels,
                 int height, int width, int out_channels, int out_height, int out_width,
                 float scale_factor) {
    extern __shared__ float windows[];  // in_channels x kHalo x kHalo

    const int lane = threadIdx.x;
    const int first_row = blockIdx.y * kSide;
    const int first_col = blockIdx.x * kSide;
    const long long image = blockIdx.z;
    for (int i = threadIdx.y * kLanes + lane; i < in_channels * kHalo * kHalo; i += kThreads) {
        const int c = i / (kHalo * kHalo);
        const int row = first_row + i / kHalo % kHalo;
        const int col = first_col + i % kHalo;
        windows[i] = row < height && col < width
                         ? x[((image * in_channels + c) * height + row) * width + col]
                         : 0.0f;
    }
    __syncthreads();

    const int own_row = threadIdx.y / kSide;
    const int own_col = threadIdx.y % kSide;
    const int terms = in_channels * kTaps;
    float smallest = INFINITY;
    for (int o = lane; o < out_channels; o += 2 * kLanes) {
        const bool second = o + kLanes < out_channels;
        const float* filter = weight + o * terms;
        const float* next = second ? filter + kLanes * terms : filter;
        float acc = 0.0f;
        float acc_next = 0.0f;
        for (int c = 0; c < in_channels; ++c) {
            const float* corner = windows + (c * kHalo + own_row) * kHalo + own_col;
#pragma unroll
            for (int t = 0; t < kTaps; ++t) {
                const float value = corner[t / kKernel * kHalo + t % kKernel];
                acc += value * filter[c * kTaps + t];
                acc_next += value * next[c * kTaps + t];
            }
        }
        float value = acc + bias[o];
        value *= scale_factor;
        smallest = nan_min(smallest, value);
        if (second) {
            value = acc_next + bias[o + kLanes];
            value *= scale_factor;
            smallest = nan_min(smallest, value);
        }
    }
    for (int offset = kLanes / 2; offset > 0; offset >>= 1) {
        smallest = nan_min(smallest, __shfl_xor_sync(0xffffffffu, smallest, offset));
    }

    const int row = first_row + own_row;
    const int col = first_col + own_col;
    if (lane == 0 && row < out_height && col < out_width) {
        y[(image * out_height + row) * out_width + col] = smallest;
    }
}
