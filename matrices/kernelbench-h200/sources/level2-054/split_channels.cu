// The same with the terms split four ways: a block adds up a share of the input channels for one
// output channel into a workspace; a second kernel adds the four and does the rest.

#include "fused_activations.cuh"

constexpr int kKernel = 3;
constexpr int kTaps = kKernel * kKernel;
constexpr int kSplits = 4;
constexpr int kCols = 16;
constexpr int kRows = 8;

__global__ void conv2d_share(const float* __restrict__ x, const float* __restrict__ weight,
                             float* __restrict__ partial, int batch, int in_channels, int height,
                             int width, int out_channels, int out_height, int out_width) {
    extern __shared__ float filter[];  // share x kTaps

    const int share = (in_channels + kSplits - 1) / kSplits;
    const int split = blockIdx.z % kSplits;
    const int plane = blockIdx.z / kSplits;
    const int image = plane / out_channels;
    const int channel = plane % out_channels;
    const int begin = split * share;
    const int end = min(begin + share, in_channels);

    const int tid = threadIdx.y * kCols + threadIdx.x;
    for (int i = tid; i < (end - begin) * kTaps; i += kCols * kRows) {
        filter[i] = weight[(channel * in_channels + begin) * kTaps + i];
    }
    __syncthreads();

    const int row = blockIdx.y * kRows + threadIdx.y;
    const int col = blockIdx.x * kCols + threadIdx.x;
    if (row >= out_height || col >= out_width) {
        return;
    }
    float sum = 0.0f;
    for (int c = begin; c < end; ++c) {
        const float* corner =
            x + ((static_cast<long long>(image) * in_channels + c) * height + row) * width + col;
        const float* taps = filter + (c - begin) * kTaps;
        for (int r = 0; r < kKernel; ++r) {
            sum += corner[r * width] * taps[r * kKernel];
            sum += corner[r * width + 1] * taps[r * kKernel + 1];
            sum += corner[r * width + 2] * taps[r * kKernel + 2];
        }
    }
    const long long share_of_all = static_cast<long long>(split) * batch * out_channels + plane;
    partial[(share_of_all * out_height + row) * out_width + col] = sum;
}

__global__ void combine_scale_leaky_gelu(const float* __restrict__ partial,
                                         const float* __restrict__ bias,
                                         const float* __restrict__ multiplier,
                                         float* __restrict__ y, long long outputs,
                                         int out_channels, int pixels, float slope) {
    const long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i >= outputs) {
        return;
    }
    const int channel = static_cast<int>(i / pixels % out_channels);
    float value = bias[channel];
    for (int split = 0; split < kSplits; ++split) {
        value += partial[split * outputs + i];
    }
    value *= multiplier[channel];
    value = leaky_relu(value, slope);
    value = gelu_erf(value);
    y[i] = value;
}
