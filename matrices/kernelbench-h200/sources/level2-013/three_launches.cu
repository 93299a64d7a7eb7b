// The same as it is written: the convolution, a thread making four outputs along the depth of two
// channels from a column of six inputs a tap of the plane; the means with their bias; the softmax,
// eight threads a pixel.

#include "limits.cuh"

constexpr int kTaps = 27;
constexpr int kRun = 4;
constexpr int kColumn = kRun + 2;
constexpr int kChannels = 2;
constexpr int kPixels = 32;
constexpr int kLanes = 8;

extern __shared__ float taps[];

__global__ void __launch_bounds__(64)
deconv_depth_runs(const float* __restrict__ x, const float* __restrict__ weight,
                  const float* __restrict__ bias, float* __restrict__ hidden, int in_channels,
                  int depth, int height, int width, int out_channels) {
    const int channel_pairs = (out_channels + kChannels - 1) / kChannels;
    const int image = blockIdx.z / channel_pairs;
    const int first_channel = blockIdx.z % channel_pairs * kChannels;
    const int channels = min(kChannels, out_channels - first_channel);
    const int each = in_channels * kTaps;
    for (int i = threadIdx.x; i < channels * each; i += blockDim.x) {
        const int c = i % each / kTaps;
        const int o = first_channel + i / each;
        taps[i] = weight[(c * out_channels + o) * kTaps + i % kTaps];
    }
    __syncthreads();

    const int pixels = height * width;
    const int pixel = blockIdx.x * blockDim.x + threadIdx.x;
    if (pixel >= pixels) {
        return;
    }
    const int oh = pixel / width;
    const int ow = pixel % width;
    const int first_d = blockIdx.y * kRun;

    float acc[kChannels][kRun] = {};
    for (int c = 0; c < in_channels; ++c) {
        const float* volume =
            x + (static_cast<long long>(image) * in_channels + c) * depth * pixels;
        for (int i = 0; i < 3; ++i) {
            for (int j = 0; j < 3; ++j) {
                const int h = oh + 1 - i;
                const int w = ow + 1 - j;
                if (h < 0 || h >= height || w < 0 || w >= width) {
                    continue;
                }
                float column[kColumn];
#pragma unroll
                for (int q = 0; q < kColumn; ++q) {
                    const int d = first_d - 1 + q;
                    column[q] = d >= 0 && d < depth ? volume[d * pixels + h * width + w] : 0.0f;
                }
                for (int o = 0; o < channels; ++o) {
                    const float* own = taps + o * each + c * kTaps + i * 3 + j;
#pragma unroll
                    for (int k = 0; k < 3; ++k) {
#pragma unroll
                        for (int q = 0; q < kRun; ++q) {
                            acc[o][q] += column[q + 2 - k] * own[k * 9];
                        }
                    }
                }
            }
        }
    }

    for (int o = 0; o < channels; ++o) {
        const int channel = first_channel + o;
        const long long plane = static_cast<long long>(image) * out_channels + channel;
        float* own = hidden + (plane * depth + first_d) * pixels + pixel;
        for (int q = 0; q < kRun && first_d + q < depth; ++q) {
            own[q * pixels] = acc[o][q] + bias[channel];
        }
    }
}

__global__ void depth_mean_add(const float* __restrict__ hidden,
                               const float* __restrict__ mean_bias, float* __restrict__ y,
                               int out_channels, int depth, int pixels) {
    const int pixel = blockIdx.x * blockDim.x + threadIdx.x;
    if (pixel >= pixels) {
        return;
    }
    const long long plane = static_cast<long long>(blockIdx.z) * out_channels + blockIdx.y;
    const float* column = hidden + plane * depth * pixels + pixel;
    float sum = 0.0f;
    for (int d = 0; d < depth; ++d) {
        sum += column[d * pixels];
    }
    float value = sum / depth;
    value += mean_bias[blockIdx.y];
    y[plane * pixels + pixel] = value;
}

__global__ void __launch_bounds__(kPixels * kLanes)
softmax_tanh_scale(float* __restrict__ y, int out_channels, int pixels, float scaling_factor) {
    __shared__ float tops[kLanes][kPixels];
    __shared__ float totals[kLanes][kPixels];

    const int tx = threadIdx.x;
    const int ty = threadIdx.y;
    const int pixel = blockIdx.x * kPixels + tx;
    const bool inside = pixel < pixels;
    float* own = y + static_cast<long long>(blockIdx.y) * out_channels * pixels + pixel;

    float top = -INFINITY;
    for (int o = ty; inside && o < out_channels; o += kLanes) {
        top = fmaxf(top, own[o * pixels]);
    }
    tops[ty][tx] = top;
    __syncthreads();
    for (int lane = 0; lane < kLanes; ++lane) {
        top = fmaxf(top, tops[lane][tx]);
    }

    float total = 0.0f;
    for (int o = ty; inside && o < out_channels; o += kLanes) {
        total += expf(own[o * pixels] - top);
    }
    totals[ty][tx] = total;
    __syncthreads();
    total = 0.0f;
    for (int lane = 0; lane < kLanes; ++lane) {
        total += totals[lane][tx];
    }

    for (int o = ty; inside && o < out_channels; o += kLanes) {
        float value = expf(own[o * pixels] - top) / total;
        value = tanhf(value);
        value *= scaling_factor;
        own[o * pixels] = value;
    }
}
