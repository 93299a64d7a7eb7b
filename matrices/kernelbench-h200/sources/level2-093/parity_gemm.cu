// The same as four matrix products, one a parity of row and column: 16 x 16 threads, one output
// each, channels along the columns of the block, 16 terms (four input channels of 2 x 2 taps) a
// slice.

#include "fused_activations.cuh"

constexpr int kTile = 16;

__global__ void __launch_bounds__(kTile * kTile)
deconv_parity_min_gelu(const float* __restrict__ x, const float* __restrict__ weight,
                       const float* __restrict__ bias, float* __restrict__ y, int in_channels,
                       int height, int width, int out_channels, float add_value,
                       float multiply_value) {
    __shared__ float tile_x[kTile][kTile];
    __shared__ float tile_w[kTile][kTile + 1];

    const int tx = threadIdx.x;
    const int ty = threadIdx.y;
    const int parity_row = blockIdx.z / 2 % 2;
    const int parity_col = blockIdx.z % 2;
    const int image = blockIdx.z / 4;
    // Every parity has (height + 1) x (width + 1) outputs.
    const int pixels = (height + 1) * (width + 1);
    const int pixel = blockIdx.x * kTile + tx;
    const int row = pixel / (width + 1);
    const int col = pixel % (width + 1);
    const int channel = blockIdx.y * kTile + ty;
    const int terms = in_channels * 4;
    const float* planes = x + static_cast<long long>(image) * in_channels * height * width;

    float acc = 0.0f;
    for (int k0 = 0; k0 < terms; k0 += kTile) {
        // Term 4 c + 2 i + j: channel c, an input i rows and j columns before.
        const int x_term = k0 + ty;
        const int from_row = row - x_term / 2 % 2;
        const int from_col = col - x_term % 2;
        const bool reaches = x_term < terms && from_row >= 0 && from_row < height &&
                             from_col >= 0 && from_col < width;
        tile_x[ty][tx] =
            reaches ? planes[(x_term / 4 * height + from_row) * width + from_col] : 0.0f;
        const int w_term = k0 + tx;
        const int tap = (parity_row + w_term / 2 % 2 * 2) * 4 + parity_col + w_term % 2 * 2;
        const bool exists = w_term < terms && channel < out_channels;
        tile_w[ty][tx] =
            exists ? weight[(w_term / 4 * out_channels + channel) * 16 + tap] : 0.0f;
        __syncthreads();

#pragma unroll
        for (int k = 0; k < kTile; ++k) {
            acc += tile_x[k][tx] * tile_w[ty][k];
        }
        __syncthreads();
    }

    if (pixel < pixels && channel < out_channels) {
        float value = acc + bias[channel];
        value += add_value;
        value = value > 0.0f ? 0.0f : value;
        value = gelu_erf(value);
        value *= multiply_value;
        const long long plane = static_cast<long long>(image) * out_channels + channel;
        const int out_row = 2 * row + parity_row;
        const int out_col = 2 * col + parity_col;
        y[(plane * 2 * (height + 1) + out_row) * 2 * (width + 1) + out_col] = value;
    }
}
