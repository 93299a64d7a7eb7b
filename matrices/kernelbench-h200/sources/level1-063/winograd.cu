// 3 x 3 convolution by Winograd's F(2 x 2, 3 x 3), fused: a block transforms the filters of 4 output
// channels into shared memory; each thread transforms one 4 x 4 patch after another, multiplies,
// sums over the input channels in the transformed domain, and transforms back once.

#include "conv_winograd.cuh"

constexpr int kThreadsX = 16;
constexpr int kThreadsY = 8;
constexpr int kChannels = 4;
constexpr int kInputs = 16;
constexpr int kPoints = 16;

__global__ void conv2d_winograd(const float* __restrict__ x, const float* __restrict__ weight,
                                float* __restrict__ y, int height, int width, int out_channels,
                                int out_height, int out_width) {
    __shared__ float filters[kChannels * kInputs][kPoints];

    const int groups = (out_channels + kChannels - 1) / kChannels;
    const int first_channel = blockIdx.z % groups * kChannels;
    const long long image = blockIdx.z / groups;
    const int present = min(kChannels, out_channels - first_channel);
    const int tid = threadIdx.y * kThreadsX + threadIdx.x;
    if (tid < present * kInputs) {
        winograd_filter(weight + (first_channel * kInputs + tid) * 9, filters[tid]);
    }
    __syncthreads();

    const int col = 2 * (blockIdx.x * kThreadsX + threadIdx.x);
    const int row = 2 * (blockIdx.y * kThreadsY + threadIdx.y);
    if (row >= out_height || col >= out_width) {
        return;
    }

    float products[kChannels][kPoints] = {};
    for (int c = 0; c < kInputs; ++c) {
        const float* plane = x + (image * kInputs + c) * height * width;
        float d[4][4];
        for (int i = 0; i < 4; ++i) {
            for (int j = 0; j < 4; ++j) {
                d[i][j] = row + i < height && col + j < width
                              ? __ldg(plane + (row + i) * width + col + j)
                              : 0.0f;
            }
        }
        winograd_input(d);
        for (int r = 0; r < present; ++r) {
            const float* u = filters[r * kInputs + c];
            for (int p = 0; p < kPoints; ++p) {
                products[r][p] += u[p] * d[p / 4][p % 4];
            }
        }
    }

    for (int r = 0; r < present; ++r) {
        float out[2][2];
        winograd_output(products[r], out);
        float* plane = y + (image * out_channels + first_channel + r) * out_height * out_width;
        for (int i = 0; i < 2 && row + i < out_height; ++i) {
            for (int j = 0; j < 2 && col + j < out_width; ++j) {
                plane[(row + i) * out_width + col + j] = out[i][j];
            }
        }
    }
}
