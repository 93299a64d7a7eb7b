// The same as libraries of old did it: image after image, its windows are written out as columns,
// one row a tap, and multiplied by the matrix of filters. 64 threads make 16 channels x 64 pixels,
// a thread 4 x 4, pixels 16 apart.

#include "fused_activations.cuh"
#include "gemm_fragment.cuh"

constexpr int kKernel = 3;
constexpr int kTaps = kKernel * kKernel;
constexpr int kTileM = 16;
constexpr int kTileN = 64;
constexpr int kTileK = 8;
constexpr int kOwn = 4;
constexpr int kSide = 16;
constexpr int kThreads = kSide * kTileM / kOwn;

__global__ void image_to_columns(const float* __restrict__ x, float* __restrict__ columns,
                                 int image, int in_channels, int height, int width,
                                 int out_height, int out_width) {
    const int pixels = out_height * out_width;
    const int pixel = blockIdx.x * blockDim.x + threadIdx.x;
    if (pixel >= pixels) {
        return;
    }
    const int c = blockIdx.y;
    const long long plane = static_cast<long long>(image) * in_channels + c;
    const float* corner = x + (plane * height + pixel / out_width) * width + pixel % out_width;
    float* target = columns + static_cast<long long>(c) * kTaps * pixels + pixel;
    for (int r = 0; r < kKernel; ++r) {
        for (int s = 0; s < kKernel; ++s) {
            *target = corner[r * width + s];
            target += pixels;
        }
    }
}

__global__ void __launch_bounds__(kThreads)
columns_hardswish_relu(const float* __restrict__ weight, const float* __restrict__ columns,
                       const float* __restrict__ bias, float* __restrict__ y, int image,
                       int terms, int out_channels, int pixels) {
    __shared__ float left[kTileK][kTileM];
    __shared__ float right[kTileK][kTileN];

    const int tid = threadIdx.x;
    const int tx = tid % kSide;
    const int ty = tid / kSide;
    const int first_channel = blockIdx.y * kTileM;
    const int first_pixel = blockIdx.x * kTileN;

    float acc[kOwn][kOwn] = {};
    for (int k0 = 0; k0 < terms; k0 += kTileK) {
        for (int i = tid; i < kTileM * kTileK; i += kThreads) {
            const int channel = first_channel + i / kTileK;
            const int k = k0 + i % kTileK;
            left[i % kTileK][i / kTileK] =
                channel < out_channels && k < terms ? weight[channel * terms + k] : 0.0f;
        }
        // A thread stages one pixel of all terms.
        for (int k = 0; k < kTileK; ++k) {
            const int pixel = first_pixel + tid;
            right[k][tid] = k0 + k < terms && pixel < pixels
                ? columns[static_cast<long long>(k0 + k) * pixels + pixel] : 0.0f;
        }
        __syncthreads();

#pragma unroll
        for (int k = 0; k < kTileK; ++k) {
            float fragment_left[kOwn];
            float fragment_right[kOwn];
#pragma unroll
            for (int i = 0; i < kOwn; ++i) {
                fragment_left[i] = left[k][ty * kOwn + i];
                fragment_right[i] = right[k][tx + kSide * i];
            }
            outer_product(acc, fragment_left, fragment_right);
        }
        __syncthreads();
    }

    for (int i = 0; i < kOwn; ++i) {
        const int channel = first_channel + ty * kOwn + i;
        if (channel >= out_channels) {
            return;
        }
        const long long plane = static_cast<long long>(image) * out_channels + channel;
        for (int j = 0; j < kOwn; ++j) {
            const int pixel = first_pixel + tx + kSide * j;
            if (pixel < pixels) {
                float value = acc[i][j] + bias[channel];
                value = hardswish(value);
                value = relu(value);
                y[plane * pixels + pixel] = value;
            }
        }
    }
}
