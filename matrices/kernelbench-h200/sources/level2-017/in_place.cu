// 3 x 3 convolution, InstanceNorm without parameters, a division. The convolution goes to the
// output itself, 4 x 16 pixels of two channels a block; then a block a plane reads it three times
// (mean, variance, result) and overwrites it.

#include "warp_reduce.cuh"
#include "block_reduce.cuh"
#include "conv_stage.cuh"

constexpr int kKernel = 3;
constexpr int kTaps = kKernel * kKernel;
constexpr int kTileW = 16;
constexpr int kTileH = 4;
constexpr int kCols = kTileW + kKernel - 1;
constexpr int kRows = kTileH + kKernel - 1;
constexpr int kChannels = 2;
constexpr int kDepth = 2;
constexpr int kThreads = kTileW * kTileH;
constexpr int kWarps = 4;

__global__ void __launch_bounds__(kThreads)
conv2d_tile(const float* __restrict__ x, const float* __restrict__ weight,
            const float* __restrict__ bias, float* __restrict__ y, int in_channels, int height,
            int width, int out_channels, int out_height, int out_width) {
    __shared__ float planes[kDepth][kRows * kCols];
    __shared__ float taps[kChannels * kDepth * kTaps];

    const int tid = threadIdx.y * kTileW + threadIdx.x;
    const int groups = (out_channels + kChannels - 1) / kChannels;
    const long long image = blockIdx.z / groups;
    const int first_channel = blockIdx.z % groups * kChannels;
    const long long pixels = static_cast<long long>(height) * width;

    float acc[kChannels] = {};
    for (int c0 = 0; c0 < in_channels; c0 += kDepth) {
        const int depth = min(kDepth, in_channels - c0);
        for (int d = 0; d < depth; ++d) {
            stage_plane(planes[d], kRows, kCols, x + (image * in_channels + c0 + d) * pixels,
                        blockIdx.y * kTileH, blockIdx.x * kTileW, height, width, tid, kThreads);
        }
        if (tid < kChannels * kDepth * kTaps) {
            const int channel = first_channel + tid / (kDepth * kTaps);
            const int term = c0 * kTaps + tid % (kDepth * kTaps);
            const bool inside = channel < out_channels && term < in_channels * kTaps;
            taps[tid] = inside ? weight[channel * in_channels * kTaps + term] : 0.0f;
        }
        __syncthreads();

        for (int d = 0; d < depth; ++d) {
            for (int t = 0; t < kTaps; ++t) {
                const float value =
                    planes[d][(threadIdx.y + t / kKernel) * kCols + threadIdx.x + t % kKernel];
#pragma unroll
                for (int o = 0; o < kChannels; ++o) {
                    acc[o] += value * taps[(o * kDepth + d) * kTaps + t];
                }
            }
        }
        __syncthreads();
    }

    const int row = blockIdx.y * kTileH + threadIdx.y;
    const int col = blockIdx.x * kTileW + threadIdx.x;
    if (row >= out_height || col >= out_width) {
        return;
    }
    for (int o = 0; o < kChannels && first_channel + o < out_channels; ++o) {
        const long long plane = image * out_channels + first_channel + o;
        y[(plane * out_height + row) * out_width + col] = acc[o] + bias[first_channel + o];
    }
}

__global__ void __launch_bounds__(32 * kWarps)
instance_norm_divide(float* __restrict__ y, int pixels, float eps, float divide_by) {
    __shared__ float warp_totals[kWarps];

    float* plane = y + static_cast<long long>(blockIdx.x) * pixels;
    float sum = 0.0f;
    for (int i = threadIdx.x; i < pixels; i += blockDim.x) {
        sum += plane[i];
    }
    const float mean = block_sum(sum, warp_totals) / pixels;

    float squares = 0.0f;
    for (int i = threadIdx.x; i < pixels; i += blockDim.x) {
        const float deviation = plane[i] - mean;
        squares += deviation * deviation;
    }
    const float variance = block_sum(squares, warp_totals) / pixels;
    const float inverse = rsqrtf(variance + eps);

    for (int i = threadIdx.x; i < pixels; i += blockDim.x) {
        float value = (plane[i] - mean) * inverse;
        value /= divide_by;
        plane[i] = value;
    }
}
