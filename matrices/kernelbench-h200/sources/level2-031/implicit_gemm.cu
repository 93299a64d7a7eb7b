// 3 x 3 convolution as a matrix product whose right factor is never stored: rows are output
// channels, columns the pixels of one image, terms the taps of all input channels. 64 threads make
// 16 channels x 32 pixels, a thread 2 x 4. The smaller of the result and a number, a bias and a
// factor follow in registers.

#include "gemm_fragment.cuh"
#include "pool_nan.cuh"

constexpr int kKernel = 3;
constexpr int kTaps = kKernel * kKernel;
constexpr int kTileM = 16;
constexpr int kTileN = 32;
constexpr int kTileK = 12;
constexpr int kOwnM = 2;
constexpr int kOwnN = 4;
constexpr int kThreadsX = kTileN / kOwnN;
constexpr int kThreads = kThreadsX * (kTileM / kOwnM);

__global__ void __launch_bounds__(kThreads)
conv2d_min_add_scale(const float* __restrict__ x, const float* __restrict__ weight,
                     const float* __restrict__ bias, const float* __restrict__ channel_bias,
                     float* __restrict__ y, int in_channels, int height, int width,
                     int out_channels, int out_height, int out_width, float constant_value,
                     float scaling_factor) {
    __shared__ float filters[kTileK][kTileM + 1];
    __shared__ float patches[kTileK][kTileN];

    const int tid = threadIdx.x;
    const int tx = tid % kThreadsX;
    const int ty = tid / kThreadsX;
    const int first_pixel = blockIdx.x * kTileN;
    const int first_channel = blockIdx.y * kTileM;
    const int pixels = out_height * out_width;
    const int terms = in_channels * kTaps;
    const float* image = x + static_cast<long long>(blockIdx.z) * in_channels * height * width;

    // A thread stages the same pixel for every second term.
    const int pixel = first_pixel + tid % kTileN;
    const int corner = pixel / out_width * width + pixel % out_width;

    float acc[kOwnM][kOwnN] = {};
    for (int k0 = 0; k0 < terms; k0 += kTileK) {
        for (int i = tid; i < kTileM * kTileK; i += kThreads) {
            const int channel = first_channel + i / kTileK;
            const int k = k0 + i % kTileK;
            filters[i % kTileK][i / kTileK] =
                channel < out_channels && k < terms ? weight[channel * terms + k] : 0.0f;
        }
        for (int t = tid / kTileN; t < kTileK; t += kThreads / kTileN) {
            const int k = k0 + t;
            const int tap = k % kTaps;
            const int offset = (k / kTaps * height + tap / kKernel) * width + tap % kKernel;
            patches[t][tid % kTileN] =
                k < terms && pixel < pixels ? image[corner + offset] : 0.0f;
        }
        __syncthreads();

#pragma unroll
        for (int k = 0; k < kTileK; ++k) {
            float left[kOwnM];
            float right[kOwnN];
            for (int i = 0; i < kOwnM; ++i) {
                left[i] = filters[k][ty * kOwnM + i];
            }
            for (int j = 0; j < kOwnN; ++j) {
                right[j] = patches[k][tx + kThreadsX * j];
            }
            outer_product(acc, left, right);
        }
        __syncthreads();
    }

    for (int i = 0; i < kOwnM; ++i) {
        const int channel = first_channel + ty * kOwnM + i;
        if (channel >= out_channels) {
            break;
        }
        float* plane = y + (static_cast<long long>(blockIdx.z) * out_channels + channel) * pixels;
        for (int j = 0; j < kOwnN; ++j) {
            const int target = first_pixel + tx + kThreadsX * j;
            if (target < pixels) {
                float value = acc[i][j] + bias[channel];
                value = nan_min(constant_value, value);
                value += channel_bias[channel];
                value *= scaling_factor;
                plane[target] = value;
            }
        }
    }
}
