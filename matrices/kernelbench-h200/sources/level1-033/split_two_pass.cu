// BatchNorm on the statistics of the batch, the images of a channel dealt out to several blocks:
// partial sums, partial squared deviations, one factor and one addend a channel, and an
// element-wise pass y = factor x + addend over the whole tensor.

#include "tree_reduce.cuh"

constexpr int kThreads = 128;

__device__ __forceinline__ float total_of(const float* partial, int channel, int parts) {
    float total = 0.0f;
    for (int p = 0; p < parts; ++p) {
        total += partial[channel * parts + p];
    }
    return total;
}

__global__ void batchnorm_sums(const float* __restrict__ x, float* __restrict__ sums, int batch,
                               int channels, int pixels) {
    __shared__ float scratch[kThreads];

    float sum = 0.0f;
    for (int image = blockIdx.x; image < batch; image += gridDim.x) {
        const float* plane = x + (static_cast<long long>(image) * channels + blockIdx.y) * pixels;
        for (int p = threadIdx.x; p < pixels; p += kThreads) {
            sum += plane[p];
        }
    }
    sum = tree_sum(sum, scratch);
    if (threadIdx.x == 0) {
        sums[blockIdx.y * gridDim.x + blockIdx.x] = sum;
    }
}

__global__ void batchnorm_squares(const float* __restrict__ x, const float* __restrict__ sums,
                                  float* __restrict__ squares, int batch, int channels,
                                  int pixels) {
    __shared__ float scratch[kThreads];

    const float count = static_cast<float>(batch) * pixels;
    const float mean = total_of(sums, blockIdx.y, gridDim.x) / count;
    float square = 0.0f;
    for (int image = blockIdx.x; image < batch; image += gridDim.x) {
        const float* plane = x + (static_cast<long long>(image) * channels + blockIdx.y) * pixels;
        for (int p = threadIdx.x; p < pixels; p += kThreads) {
            const float deviation = plane[p] - mean;
            square = fmaf(deviation, deviation, square);
        }
    }
    square = tree_sum(square, scratch);
    if (threadIdx.x == 0) {
        squares[blockIdx.y * gridDim.x + blockIdx.x] = square;
    }
}

__global__ void batchnorm_factors(const float* __restrict__ sums, const float* __restrict__ squares,
                                  const float* __restrict__ weight, const float* __restrict__ bias,
                                  float* __restrict__ factors, float* __restrict__ addends,
                                  int channels, int parts, float count, float eps) {
    const int channel = blockIdx.x * blockDim.x + threadIdx.x;
    if (channel >= channels) {
        return;
    }
    const float mean = total_of(sums, channel, parts) / count;
    const float variance = total_of(squares, channel, parts) / count;
    const float factor = weight[channel] * rsqrtf(variance + eps);
    factors[channel] = factor;
    addends[channel] = bias[channel] - mean * factor;
}

__global__ void batchnorm_apply(const float* __restrict__ x, const float* __restrict__ factors,
                                const float* __restrict__ addends, float* __restrict__ y,
                                int channels, int pixels, long long n) {
    const long long step = static_cast<long long>(gridDim.x) * blockDim.x;
    for (long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x; i < n;
         i += step) {
        const int channel = (i / pixels) % channels;
        y[i] = fmaf(x[i], factors[channel], addends[channel]);
    }
}
