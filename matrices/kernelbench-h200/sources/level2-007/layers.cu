// 3 x 3 x 3 convolution, four activations and a bias of its own. A thread holds a column of four
// output layers of two channels. Input layers pass through shared memory one at a time, each read
// once for the up to three output layers that it belongs to.

#include "conv_stage.cuh"
#include "fused_activations.cuh"

constexpr int kKernel = 3;
constexpr int kArea = kKernel * kKernel;
constexpr int kTaps = kKernel * kArea;
constexpr int kTileW = 8;
constexpr int kTileH = 8;
constexpr int kLayers = 4;
constexpr int kPair = 2;
constexpr int kCols = kTileW + kKernel - 1;
constexpr int kRows = kTileH + kKernel - 1;
constexpr int kThreads = kTileW * kTileH;

__device__ __forceinline__ float four_activations(float value, float slope) {
    value = relu(value);
    value = leaky_relu(value, slope);
    value = gelu_erf(value);
    value = logistic(value);
    return value;
}

__global__ void __launch_bounds__(kThreads)
conv3d_activations_bias(const float* __restrict__ x, const float* __restrict__ weight,
                        const float* __restrict__ bias, const float* __restrict__ channel_bias,
                        float* __restrict__ y, int in_channels, int depth, int height, int width,
                        int out_channels, int out_depth, int out_height, int out_width,
                        float slope) {
    __shared__ float plane[kRows * kCols];
    __shared__ float taps[kPair][kTaps];

    const int tid = threadIdx.y * kTileW + threadIdx.x;
    const int slabs = (out_depth + kLayers - 1) / kLayers;
    const int pairs = (out_channels + kPair - 1) / kPair;
    const int first_layer = blockIdx.z % slabs * kLayers;
    const int first_channel = blockIdx.z / slabs % pairs * kPair;
    const long long image = blockIdx.z / slabs / pairs;
    const int first_row = blockIdx.y * kTileH;
    const int first_col = blockIdx.x * kTileW;
    const int planes = min(kLayers + kKernel - 1, depth - first_layer);

    float acc[kLayers][kPair] = {};
    for (int c = 0; c < in_channels; ++c) {
        if (tid < kPair * kTaps) {
            const int channel = min(first_channel + tid / kTaps, out_channels - 1);
            taps[tid / kTaps][tid % kTaps] =
                weight[(channel * in_channels + c) * kTaps + tid % kTaps];
        }
        for (int p = 0; p < planes; ++p) {
            const long long layer = (image * in_channels + c) * depth + first_layer + p;
            stage_plane(plane, kRows, kCols, x + layer * height * width, first_row, first_col,
                        height, width, tid, kThreads);
            __syncthreads();

            float window[kArea];
#pragma unroll
            for (int t = 0; t < kArea; ++t) {
                window[t] = plane[(threadIdx.y + t / kKernel) * kCols + threadIdx.x + t % kKernel];
            }
#pragma unroll
            for (int l = 0; l < kLayers; ++l) {
                const int i = p - l;
                if (i >= 0 && i < kKernel) {
#pragma unroll
                    for (int t = 0; t < kArea; ++t) {
                        acc[l][0] += window[t] * taps[0][i * kArea + t];
                        acc[l][1] += window[t] * taps[1][i * kArea + t];
                    }
                }
            }
            __syncthreads();
        }
    }

    const int row = first_row + threadIdx.y;
    const int col = first_col + threadIdx.x;
    if (row >= out_height || col >= out_width) {
        return;
    }
    for (int o = 0; o < kPair && first_channel + o < out_channels; ++o) {
        const int channel = first_channel + o;
        const long long volume = (image * out_channels + channel) * out_depth;
#pragma unroll
        for (int l = 0; l < kLayers; ++l) {
            const int layer = first_layer + l;
            if (layer < out_depth) {
                float value = acc[l][o] + bias[channel];
                value = four_activations(value, slope);
                value += channel_bias[channel];
                y[((volume + layer) * out_height + row) * out_width + col] = value;
            }
        }
    }
}
