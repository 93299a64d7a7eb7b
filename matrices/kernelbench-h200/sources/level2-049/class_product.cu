// 3 x 3 x 3 transposed convolution that doubles every axis, softmax of the channels, sigmoid.
// Outputs of equal parities, a class, meet the same taps, so a class is a matrix product: its terms
// are the taps' input voxels times the input channels. A block makes 32 voxels of one class, all
// channels, 16 of them at a time; the logits stay in shared memory until the softmax is done.

#include "fused_activations.cuh"
#include "limits.cuh"

constexpr int kTaps = 27;
constexpr int kVoxels = 32;
constexpr int kOutputs = 16;
constexpr int kTerms = 16;
constexpr int kGroups = 4;
constexpr int kOwn = kOutputs / kGroups;
constexpr int kThreads = kVoxels * kGroups;

extern __shared__ float logits[];

// Along one axis an even output meets tap 1 of the input at its half, an odd one tap 2 of that and
// tap 0 of the next.
__device__ __forceinline__ int tap_along(int parity, int next) {
    return parity == 0 ? 1 : 2 - 2 * next;
}

__global__ void __launch_bounds__(kThreads)
deconv_class_softmax_sigmoid(const float* __restrict__ x, const float* __restrict__ weight,
                             const float* __restrict__ bias, float* __restrict__ y,
                             int in_channels, int depth, int height, int width,
                             int out_channels) {
    __shared__ float values[kTerms][kVoxels];
    __shared__ float factors[kTerms][kOutputs];
    __shared__ float tops[kGroups][kVoxels];
    __shared__ float totals[kGroups][kVoxels];

    const int tx = threadIdx.x;
    const int ty = threadIdx.y;
    const int parity_d = blockIdx.y / 4;
    const int parity_h = blockIdx.y / 2 % 2;
    const int parity_w = blockIdx.y % 2;
    const int terms = in_channels << (parity_d + parity_h + parity_w);
    const int voxels = depth * height * width;
    const int voxel = blockIdx.x * kVoxels + tx;
    const int d = voxel / (height * width);
    const int h = voxel / width % height;
    const int w = voxel % width;
    const float* image = x + static_cast<long long>(blockIdx.z) * in_channels * voxels;

    for (int o0 = 0; o0 < out_channels; o0 += kOutputs) {
        float acc[kOwn] = {};
        for (int k0 = 0; k0 < terms; k0 += kTerms) {
            for (int t = ty; t < kTerms; t += kGroups) {
                const int c = (k0 + t) % in_channels;
                // An axis of odd parity takes a bit of the tap's number.
                int rest = (k0 + t) / in_channels;
                const int next_w = rest & parity_w;
                rest >>= parity_w;
                const int next_h = rest & parity_h;
                rest >>= parity_h;
                const int next_d = rest & parity_d;

                const bool inside = k0 + t < terms && d + next_d < depth && h + next_h < height &&
                                    w + next_w < width;
                const int source = ((d + next_d) * height + h + next_h) * width + w + next_w;
                values[t][tx] = inside ? image[c * voxels + source] : 0.0f;

                const int o = o0 + tx;
                const int plane = tap_along(parity_d, next_d) * 3 + tap_along(parity_h, next_h);
                const int tap = plane * 3 + tap_along(parity_w, next_w);
                if (tx < kOutputs) {
                    const bool exists = k0 + t < terms && o < out_channels;
                    factors[t][tx] = exists ? weight[(c * out_channels + o) * kTaps + tap] : 0.0f;
                }
            }
            __syncthreads();
#pragma unroll
            for (int t = 0; t < kTerms; ++t) {
#pragma unroll
                for (int j = 0; j < kOwn; ++j) {
                    acc[j] += values[t][tx] * factors[t][ty * kOwn + j];
                }
            }
            __syncthreads();
        }
        for (int j = 0; j < kOwn; ++j) {
            const int o = o0 + ty * kOwn + j;
            if (o < out_channels) {
                logits[o * kVoxels + tx] = acc[j] + bias[o];
            }
        }
    }
    __syncthreads();

    float top = -INFINITY;
    for (int o = ty; o < out_channels; o += kGroups) {
        top = fmaxf(top, logits[o * kVoxels + tx]);
    }
    tops[ty][tx] = top;
    __syncthreads();
    for (int g = 0; g < kGroups; ++g) {
        top = fmaxf(top, tops[g][tx]);
    }

    float total = 0.0f;
    for (int o = ty; o < out_channels; o += kGroups) {
        const float e = expf(logits[o * kVoxels + tx] - top);
        logits[o * kVoxels + tx] = e;
        total += e;
    }
    totals[ty][tx] = total;
    __syncthreads();
    total = 0.0f;
    for (int g = 0; g < kGroups; ++g) {
        total += totals[g][tx];
    }

    if (voxel >= voxels) {
        return;
    }
    const int row = ((2 * d + parity_d) * 2 * height + 2 * h + parity_h) * 2 * width;
    float* own = y + static_cast<long long>(blockIdx.z) * out_channels * voxels * 8 + row;
    for (int o = ty; o < out_channels; o += kGroups) {
        float value = logits[o * kVoxels + tx] / total;
        value = logistic(value);
        own[o * voxels * 8 + 2 * w + parity_w] = value;
    }
}
