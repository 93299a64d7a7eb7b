// The same stage by stage: the convolution with its activation to memory, four outputs of a line
// a thread; the moments of the groups by sums over trees; each channel standardised and averaged
// by a block.

#include "fused_activations.cuh"
#include "tree_reduce.cuh"

constexpr int kKernel = 4;
constexpr int kTaps = kKernel * kKernel * kKernel;
constexpr int kWidth = 4;  // channels of a group
constexpr int kOutputs = 4;
constexpr int kWindow = kOutputs + kKernel - 1;
constexpr int kThreads = 128;

__global__ void conv3d_hardswish(const float* __restrict__ x, const float* __restrict__ weight,
                                 const float* __restrict__ bias, float* __restrict__ hidden,
                                 int in_channels, int depth, int height, int width,
                                 int out_channels, int out_depth, int out_height, int out_width) {
    const int quads = (out_width + kOutputs - 1) / kOutputs;
    const int index = blockIdx.x * blockDim.x + threadIdx.x;
    if (index >= out_depth * out_height * quads) {
        return;
    }
    const int layer = index / (out_height * quads);
    const int row = index / quads % out_height;
    const int col = index % quads * kOutputs;
    const int channel = blockIdx.y;
    const long long image = blockIdx.z;

    float acc[kOutputs] = {};
    for (int c = 0; c < in_channels; ++c) {
        const float* filter = weight + (channel * in_channels + c) * kTaps;
        for (int ij = 0; ij < kKernel * kKernel; ++ij) {
            const long long plane = (image * in_channels + c) * depth + layer + ij / kKernel;
            const float* line = x + (plane * height + row + ij % kKernel) * width;
            float window[kWindow];
#pragma unroll
            for (int k = 0; k < kWindow; ++k) {
                window[k] = col + k < width ? line[col + k] : 0.0f;
            }
#pragma unroll
            for (int k = 0; k < kKernel; ++k) {
                const float factor = __ldg(filter + ij * kKernel + k);
#pragma unroll
                for (int p = 0; p < kOutputs; ++p) {
                    acc[p] += window[p + k] * factor;
                }
            }
        }
    }

    const long long volume = (image * out_channels + channel) * out_depth + layer;
    float* target = hidden + (volume * out_height + row) * out_width + col;
    for (int p = 0; p < min(kOutputs, out_width - col); ++p) {
        float value = acc[p] + bias[channel];
        value = hardswish(value);
        target[p] = value;
    }
}

__global__ void __launch_bounds__(kThreads)
group_moments(const float* __restrict__ hidden, float* __restrict__ means,
              float* __restrict__ inverses, int members, float eps) {
    __shared__ float scratch[kThreads];

    const float* values = hidden + static_cast<long long>(blockIdx.x) * members;
    float sum = 0.0f;
    for (int i = threadIdx.x; i < members; i += kThreads) {
        sum += values[i];
    }
    const float mean = tree_sum(sum, scratch) / members;

    float squares = 0.0f;
    for (int i = threadIdx.x; i < members; i += kThreads) {
        const float deviation = values[i] - mean;
        squares += deviation * deviation;
    }
    const float variance = tree_sum(squares, scratch) / members;
    if (threadIdx.x == 0) {
        means[blockIdx.x] = mean;
        inverses[blockIdx.x] = rsqrtf(variance + eps);
    }
}

__global__ void __launch_bounds__(kThreads)
standardise_average(const float* __restrict__ hidden, const float* __restrict__ means,
                    const float* __restrict__ inverses, const float* __restrict__ norm_weight,
                    const float* __restrict__ norm_bias, float* __restrict__ y, int out_channels,
                    int voxels) {
    __shared__ float scratch[kThreads];

    const int plane = blockIdx.x;
    const int channel = plane % out_channels;
    const float mean = means[plane / kWidth];
    const float inverse = inverses[plane / kWidth];
    const float* values = hidden + static_cast<long long>(plane) * voxels;
    float sum = 0.0f;
    for (int i = threadIdx.x; i < voxels; i += kThreads) {
        float value = (values[i] - mean) * inverse;
        value = value * norm_weight[channel] + norm_bias[channel];
        sum += value;
    }
    sum = tree_sum(sum, scratch);
    if (threadIdx.x == 0) {
        y[plane] = sum / voxels;
    }
}
