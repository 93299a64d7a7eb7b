// The same in the plain way: the first kernel writes what hard swish makes of the convolution, the
// second reads it again for max-pooling and Mish. The first makes 16 x 8 outputs of one channel
// with that channel's filters in shared memory, four planes of taps at a time.

#include "fused_activations.cuh"
#include "limits.cuh"
#include "pool_nan.cuh"

constexpr int kKernel = 3;
constexpr int kTaps = kKernel * kKernel;
constexpr int kCols = 16;
constexpr int kRows = 8;
constexpr int kPlanes = 4;
constexpr int kPool = 2;

__global__ void conv2d_hardswish(const float* __restrict__ x, const float* __restrict__ weight,
                                 const float* __restrict__ bias, float* __restrict__ hidden,
                                 int in_channels, int height, int width, int out_channels,
                                 int out_height, int out_width, float subtract_value) {
    __shared__ float taps[kPlanes * kTaps];

    const int tid = threadIdx.y * kCols + threadIdx.x;
    const int row = blockIdx.y * kRows + threadIdx.y;
    const int col = blockIdx.x * kCols + threadIdx.x;
    const int channel = blockIdx.z % out_channels;
    const long long image = blockIdx.z / out_channels;
    const bool inside = row < out_height && col < out_width;

    float acc = 0.0f;
    for (int c0 = 0; c0 < in_channels; c0 += kPlanes) {
        const int planes = min(kPlanes, in_channels - c0);
        if (tid < planes * kTaps) {
            taps[tid] = weight[(channel * in_channels + c0) * kTaps + tid];
        }
        __syncthreads();
        for (int p = 0; inside && p < planes; ++p) {
            const float* corner =
                x + ((image * in_channels + c0 + p) * height + row) * width + col;
            for (int t = 0; t < kTaps; ++t) {
                acc += corner[t / kKernel * width + t % kKernel] * taps[p * kTaps + t];
            }
        }
        __syncthreads();
    }
    if (inside) {
        float value = acc + bias[channel];
        value -= subtract_value;
        value = hardswish(value);
        hidden[(static_cast<long long>(blockIdx.z) * out_height + row) * out_width + col] = value;
    }
}

__global__ void max_pool_mish(const float* __restrict__ hidden, float* __restrict__ y,
                              long long outputs, int out_height, int out_width, int pool_height,
                              int pool_width) {
    const long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i >= outputs) {
        return;
    }
    const int col = static_cast<int>(i % pool_width) * kPool;
    const int row = static_cast<int>(i / pool_width % pool_height) * kPool;
    const long long plane = i / pool_width / pool_height;
    const float* window = hidden + (plane * out_height + row) * out_width + col;
    float largest = -INFINITY;
    for (int r = 0; r < kPool; ++r) {
        for (int s = 0; s < kPool; ++s) {
            largest = nan_max(largest, window[r * out_width + s]);
        }
    }
    y[i] = mish(largest);
}
