// 3 x 3 convolution, Mish, BatchNorm with the statistics of the batch. The activation is written
// once; a block a channel takes the moments over all images by Welford's updates and turns them,
// with the learned scale and shift, into one factor and one summand; a last kernel applies these.

#include "conv_stage.cuh"
#include "fused_activations.cuh"
#include "welford.cuh"
#include "norm_block_moments.cuh"

constexpr int kKernel = 3;
constexpr int kTaps = kKernel * kKernel;
constexpr int kTileW = 16;
constexpr int kTileH = 4;
constexpr int kCols = kTileW + kKernel - 1;
constexpr int kRows = kTileH + kKernel - 1;
constexpr int kThreads = kTileW * kTileH;
constexpr int kWarps = 4;

__global__ void __launch_bounds__(kThreads)
conv2d_mish(const float* __restrict__ x, const float* __restrict__ weight,
            const float* __restrict__ bias, float* __restrict__ hidden, int in_channels,
            int height, int width, int out_channels, int out_height, int out_width) {
    __shared__ float plane[kRows * kCols];
    __shared__ float taps[kTaps];

    const int tid = threadIdx.y * kTileW + threadIdx.x;
    const int channel = blockIdx.z % out_channels;
    const long long image = blockIdx.z / out_channels;
    const long long pixels = static_cast<long long>(height) * width;

    float acc = 0.0f;
    for (int c = 0; c < in_channels; ++c) {
        stage_plane(plane, kRows, kCols, x + (image * in_channels + c) * pixels,
                    blockIdx.y * kTileH, blockIdx.x * kTileW, height, width, tid, kThreads);
        if (tid < kTaps) {
            taps[tid] = weight[(channel * in_channels + c) * kTaps + tid];
        }
        __syncthreads();
#pragma unroll
        for (int r = 0; r < kKernel; ++r) {
#pragma unroll
            for (int s = 0; s < kKernel; ++s) {
                acc += plane[(threadIdx.y + r) * kCols + threadIdx.x + s] * taps[r * kKernel + s];
            }
        }
        __syncthreads();
    }

    const int row = blockIdx.y * kTileH + threadIdx.y;
    const int col = blockIdx.x * kTileW + threadIdx.x;
    if (row < out_height && col < out_width) {
        float value = acc + bias[channel];
        value = mish(value);
        hidden[(static_cast<long long>(blockIdx.z) * out_height + row) * out_width + col] = value;
    }
}

__global__ void __launch_bounds__(32 * kWarps)
batch_moments(const float* __restrict__ hidden, const float* __restrict__ norm_weight,
              const float* __restrict__ norm_bias, float* __restrict__ factors,
              float* __restrict__ summands, int batch, int out_channels, int pixels, float eps) {
    __shared__ Moments warp_moments[kWarps];

    const int channel = blockIdx.x;
    Moments moments = {0.0f, 0.0f, 0.0f};
    for (int image = 0; image < batch; ++image) {
        const float* plane =
            hidden + (static_cast<long long>(image) * out_channels + channel) * pixels;
        for (int i = threadIdx.x; i < pixels; i += blockDim.x) {
            welford_push(moments, plane[i]);
        }
    }
    moments = welford_block(moments, warp_moments);
    if (threadIdx.x == 0) {
        const float inverse = rsqrtf(moments.m2 / moments.count + eps);
        const float factor = norm_weight[channel] * inverse;
        factors[channel] = factor;
        summands[channel] = norm_bias[channel] - moments.mean * factor;
    }
}

__global__ void scale_and_shift(const float* __restrict__ hidden, const float* __restrict__ factors,
                                const float* __restrict__ summands, float* __restrict__ y,
                                long long outputs, int out_channels, int pixels) {
    const long long stride = static_cast<long long>(gridDim.x) * blockDim.x;
    for (long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x; i < outputs;
         i += stride) {
        const int channel = static_cast<int>(i / pixels % out_channels);
        y[i] = hidden[i] * factors[channel] + summands[channel];
    }
}
