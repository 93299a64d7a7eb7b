// 5 x 5 x 5 transposed convolution of stride 1, scaled, BatchNorm by the batch's own statistics,
// the mean of every volume. A thread of the first kernel makes four outputs of a row, sliding eight
// inputs over the five taps; a block of the second has one channel of all images: their means, the
// spread about the mean of these, and from both the output.

#include "warp_reduce.cuh"
#include "block_reduce.cuh"

constexpr int kKernel = 5;
constexpr int kHalo = kKernel - 1;
constexpr int kTaps = kKernel * kKernel * kKernel;
constexpr int kStrip = 4;
constexpr int kThreads = 64;
constexpr int kNormThreads = 128;

extern __shared__ float volume_means[];

__global__ void __launch_bounds__(kThreads)
deconv_sliding_scale(const float* __restrict__ x, const float* __restrict__ weight,
                     const float* __restrict__ bias, float* __restrict__ hidden, int in_channels,
                     int depth, int height, int width, int out_channels, int out_depth,
                     int out_height, int out_width, float scale_factor) {
    __shared__ float taps[kTaps];

    const int channel = blockIdx.y;
    const int strips = (out_width + kStrip - 1) / kStrip;
    const int strip = blockIdx.x * kThreads + threadIdx.x;
    const int first = strip % strips * kStrip;
    const int oh = strip / strips % out_height;
    const int od = strip / strips / out_height;

    float acc[kStrip] = {};
    for (int c = 0; c < in_channels; ++c) {
        for (int i = threadIdx.x; i < kTaps; i += kThreads) {
            taps[i] = weight[(c * out_channels + channel) * kTaps + i];
        }
        __syncthreads();
        const float* volume =
            x + (static_cast<long long>(blockIdx.z) * in_channels + c) * depth * height * width;
        for (int i = 0; i < kKernel; ++i) {
            const int d = od - i;
            if (d < 0 || d >= depth) {
                continue;
            }
            for (int j = 0; j < kKernel; ++j) {
                const int h = oh - j;
                if (h < 0 || h >= height) {
                    continue;
                }
                float window[kStrip + kHalo];
#pragma unroll
                for (int q = 0; q < kStrip + kHalo; ++q) {
                    const int w = first - kHalo + q;
                    window[q] =
                        w >= 0 && w < width ? volume[(d * height + h) * width + w] : 0.0f;
                }
#pragma unroll
                for (int k = 0; k < kKernel; ++k) {
#pragma unroll
                    for (int q = 0; q < kStrip; ++q) {
                        acc[q] += window[q + kHalo - k] * taps[(i * kKernel + j) * kKernel + k];
                    }
                }
            }
        }
        __syncthreads();
    }
    if (od >= out_depth) {
        return;
    }

    const long long plane = static_cast<long long>(blockIdx.z) * out_channels + channel;
    float* out = hidden + ((plane * out_depth + od) * out_height + oh) * out_width;
    for (int q = 0; q < kStrip && first + q < out_width; ++q) {
        float value = acc[q] + bias[channel];
        value *= scale_factor;
        out[first + q] = value;
    }
}

__global__ void __launch_bounds__(kNormThreads)
batch_norm_average(const float* __restrict__ hidden, const float* __restrict__ norm_weight,
                   const float* __restrict__ norm_bias, float* __restrict__ y, int batch,
                   int out_channels, int voxels, float eps) {
    __shared__ float warp_totals[kNormThreads / 32];

    const int channel = blockIdx.x;
    float mean = 0.0f;
    for (int n = 0; n < batch; ++n) {
        const float* volume =
            hidden + (static_cast<long long>(n) * out_channels + channel) * voxels;
        float sum = 0.0f;
        for (int i = threadIdx.x; i < voxels; i += kNormThreads) {
            sum += volume[i];
        }
        const float own = block_sum(sum, warp_totals) / voxels;
        if (threadIdx.x == 0) {
            volume_means[n] = own;
        }
        mean += own;
    }
    mean /= batch;  // volumes are of equal size

    float squares = 0.0f;
    for (int n = 0; n < batch; ++n) {
        const float* volume =
            hidden + (static_cast<long long>(n) * out_channels + channel) * voxels;
        for (int i = threadIdx.x; i < voxels; i += kNormThreads) {
            const float deviation = volume[i] - mean;
            squares += deviation * deviation;
        }
    }
    const float variance =
        block_sum(squares, warp_totals) / (static_cast<float>(batch) * voxels);
    const float inverse = rsqrtf(variance + eps);

    for (int n = threadIdx.x; n < batch; n += kNormThreads) {
        float value = (volume_means[n] - mean) * inverse;
        value = value * norm_weight[channel] + norm_bias[channel];
        y[n * out_channels + channel] = value;
    }
}
