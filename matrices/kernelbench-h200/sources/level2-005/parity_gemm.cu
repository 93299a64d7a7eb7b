// 4 x 4 transposed convolution of stride 2, padding 1 and output padding 1, a bias subtracted,
// tanh. Outputs of equal parity of row and column meet the same 2 x 2 taps, so each of the four
// parities is a matrix product of its own: pixels by channels, summed over input channels and taps.

#include "gemm_fragment.cuh"

constexpr int kPixels = 32;
constexpr int kChannels = 8;
constexpr int kTerms = 8;
constexpr int kPatchPixels = 2;
constexpr int kPatchChannels = 2;
constexpr int kThreads = (kPixels / kPatchPixels) * (kChannels / kPatchChannels);

__global__ void __launch_bounds__(kThreads)
deconv_parity_subtract_tanh(const float* __restrict__ x, const float* __restrict__ weight,
                            const float* __restrict__ bias, const float* __restrict__ subtrahend,
                            float* __restrict__ y, int in_channels, int height, int width,
                            int out_channels, int out_height, int out_width) {
    __shared__ float tile_x[kTerms][kPixels];
    __shared__ float tile_w[kTerms][kChannels];

    const int parity_row = blockIdx.z % 4 / 2;
    const int parity_col = blockIdx.z % 2;
    const long long image = blockIdx.z / 4;
    const int rows = (out_height - parity_row + 1) / 2;
    const int cols = (out_width - parity_col + 1) / 2;
    const int first_pixel = blockIdx.x * kPixels;
    const int first_channel = blockIdx.y * kChannels;
    if (first_pixel >= rows * cols) {
        return;
    }

    const int tid = threadIdx.x;
    const int terms = in_channels * 4;
    // A thread loads the terms of one pixel, its warp every other one.
    const int pixel = first_pixel + tid % kPixels;
    const int pixel_row = pixel / cols + parity_row;
    const int pixel_col = pixel % cols + parity_col;
    const float* planes = x + image * in_channels * height * width;

    float acc[kPatchPixels][kPatchChannels] = {};
    const int patch_pixel = tid % (kPixels / kPatchPixels) * kPatchPixels;
    const int patch_channel = tid / (kPixels / kPatchPixels) * kPatchChannels;

    for (int k0 = 0; k0 < terms; k0 += kTerms) {
        for (int k = tid / kPixels; k < kTerms; k += kThreads / kPixels) {
            const int term = k0 + k;
            const int row = pixel_row - term % 4 / 2;
            const int col = pixel_col - term % 2;
            const bool inside = term < terms && row >= 0 && row < height && col >= 0 &&
                                col < width;
            tile_x[k][tid % kPixels] =
                inside ? planes[(term / 4 * height + row) * width + col] : 0.0f;
        }
        for (int i = tid; i < kTerms * kChannels; i += kThreads) {
            const int term = k0 + i / kChannels;
            const int channel = first_channel + i % kChannels;
            const int tap_row = 1 - parity_row + term % 4 / 2 * 2;
            const int tap_col = 1 - parity_col + term % 2 * 2;
            const bool inside = term < terms && channel < out_channels;
            tile_w[i / kChannels][i % kChannels] =
                inside ? weight[((term / 4 * out_channels + channel) * 4 + tap_row) * 4 + tap_col]
                       : 0.0f;
        }
        __syncthreads();

#pragma unroll
        for (int k = 0; k < kTerms; ++k) {
            float pixels[kPatchPixels];
            float channels[kPatchChannels];
#pragma unroll
            for (int i = 0; i < kPatchPixels; ++i) {
                pixels[i] = tile_x[k][patch_pixel + i];
            }
#pragma unroll
            for (int j = 0; j < kPatchChannels; ++j) {
                channels[j] = tile_w[k][patch_channel + j];
            }
            outer_product(acc, pixels, channels);
        }
        __syncthreads();
    }

    for (int i = 0; i < kPatchPixels; ++i) {
        const int own = first_pixel + patch_pixel + i;
        if (own >= rows * cols) {
            break;
        }
        const int row = own / cols * 2 + parity_row;
        const int col = own % cols * 2 + parity_col;
        for (int j = 0; j < kPatchChannels; ++j) {
            const int channel = first_channel + patch_channel + j;
            if (channel < out_channels) {
                float value = acc[i][j] + bias[channel];
                value -= subtrahend[channel];
                value = tanhf(value);
                y[((image * out_channels + channel) * out_height + row) * out_width + col] = value;
            }
        }
    }
}
