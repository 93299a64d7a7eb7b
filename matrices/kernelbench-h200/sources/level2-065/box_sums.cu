// 3 x 3 convolution, means over windows of 4 x 4, the logistic function, the sum over all of an
// image. Convolution and mean are both linear: the mean of a window's sixteen outputs is a product
// of the taps with the nine sums over 4 x 4 inputs, so that a thread adds boxes first and
// multiplies once. Blocks leave partial sums, which a second kernel adds.

#include "warp_reduce.cuh"
#include "block_reduce.cuh"
#include "fused_activations.cuh"

constexpr int kKernel = 3;
constexpr int kTaps = kKernel * kKernel;
constexpr int kPool = 4;
constexpr int kReach = kPool + kKernel - 1;
constexpr int kChannels = 8;
constexpr int kWarps = 2;

__device__ __forceinline__ void box_sums(const float* __restrict__ corner, int width,
                                         float (&boxes)[kTaps]) {
    float lines[kReach][kKernel];
#pragma unroll
    for (int i = 0; i < kReach; ++i) {
        float line[kReach];
#pragma unroll
        for (int j = 0; j < kReach; ++j) {
            line[j] = corner[i * width + j];
        }
#pragma unroll
        for (int s = 0; s < kKernel; ++s) {
            lines[i][s] = line[s] + line[s + 1] + line[s + 2] + line[s + 3];
        }
    }
#pragma unroll
    for (int t = 0; t < kTaps; ++t) {
        const int r = t / kKernel;
        const int s = t % kKernel;
        boxes[t] = lines[r][s] + lines[r + 1][s] + lines[r + 2][s] + lines[r + 3][s];
    }
}

__global__ void __launch_bounds__(32 * kWarps)
conv2d_average_sigmoid(const float* __restrict__ x, const float* __restrict__ weight,
                       const float* __restrict__ bias, float* __restrict__ partial,
                       int in_channels, int height, int width, int out_channels, int pool_height,
                       int pool_width) {
    extern __shared__ float filters[];  // kChannels x in_channels x kTaps
    __shared__ float warp_totals[kWarps];

    const int terms = in_channels * kTaps;
    const int first_channel = blockIdx.y * kChannels;
    const int own = min(kChannels, out_channels - first_channel);
    for (int i = threadIdx.x; i < own * terms; i += blockDim.x) {
        filters[i] = weight[first_channel * terms + i];
    }
    __syncthreads();

    const int window = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0.0f;
    if (window < pool_height * pool_width) {
        const int first_row = window / pool_width * kPool;
        const int first_col = window % pool_width * kPool;
        const float* corner = x +
                              static_cast<long long>(blockIdx.z) * in_channels * height * width +
                              first_row * width + first_col;
        float acc[kChannels] = {};
        for (int c = 0; c < in_channels; ++c) {
            float boxes[kTaps];
            box_sums(corner, width, boxes);
            for (int o = 0; o < own; ++o) {
#pragma unroll
                for (int t = 0; t < kTaps; ++t) {
                    acc[o] += boxes[t] * filters[o * terms + c * kTaps + t];
                }
            }
            corner += height * width;
        }
        for (int o = 0; o < own; ++o) {
            float value = acc[o] / (kPool * kPool);
            value += bias[first_channel + o];
            value = logistic(value);
            sum += value;
        }
    }

    sum = block_sum(sum, warp_totals);
    if (threadIdx.x == 0) {
        partial[(blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x] = sum;
    }
}

__global__ void add_partials(const float* __restrict__ partial, float* __restrict__ y,
                             int partials) {
    __shared__ float warp_totals[kWarps];

    const float* own = partial + static_cast<long long>(blockIdx.x) * partials;
    float sum = 0.0f;
    for (int i = threadIdx.x; i < partials; i += blockDim.x) {
        sum += own[i];
    }
    sum = block_sum(sum, warp_totals);
    if (threadIdx.x == 0) {
        y[blockIdx.x] = sum;
    }
}
