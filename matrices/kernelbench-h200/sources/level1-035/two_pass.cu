// GroupNorm, one block a group of an image: its channels lie one after the other, so that a group
// is one run of elements. Sum, squared deviations, result; sums go in float4 with a scalar tail
// where the run is aligned (vectors > 0), and meet in a tree in dynamic shared memory.

#include "tree_reduce.cuh"

__global__ void groupnorm_two_pass(const float* __restrict__ x, const float* __restrict__ weight,
                                   const float* __restrict__ bias, float* __restrict__ y,
                                   int groups, int group_channels, int pixels, int vectors,
                                   float eps) {
    extern __shared__ float scratch[];

    const int size = group_channels * pixels;
    const int first_channel = (blockIdx.x % groups) * group_channels;
    const float* run = x + static_cast<long long>(blockIdx.x) * size;
    float* result = y + static_cast<long long>(blockIdx.x) * size;
    const float4* run4 = reinterpret_cast<const float4*>(run);

    float sum = 0.0f;
    for (int v = threadIdx.x; v < vectors; v += blockDim.x) {
        const float4 f = run4[v];
        sum += f.x + f.y + f.z + f.w;
    }
    for (int i = vectors * 4 + threadIdx.x; i < size; i += blockDim.x) {
        sum += run[i];
    }
    const float mean = tree_sum(sum, scratch) / size;

    float deviation = 0.0f;
    for (int v = threadIdx.x; v < vectors; v += blockDim.x) {
        float4 f = run4[v];
        f.x -= mean;
        f.y -= mean;
        f.z -= mean;
        f.w -= mean;
        deviation += f.x * f.x + f.y * f.y + f.z * f.z + f.w * f.w;
    }
    for (int i = vectors * 4 + threadIdx.x; i < size; i += blockDim.x) {
        const float d = run[i] - mean;
        deviation += d * d;
    }
    const float rstd = rsqrtf(tree_sum(deviation, scratch) / size + eps);

    for (int i = threadIdx.x; i < size; i += blockDim.x) {
        const int channel = first_channel + i / pixels;
        result[i] = (run[i] - mean) * rstd * weight[channel] + bias[channel];
    }
}
