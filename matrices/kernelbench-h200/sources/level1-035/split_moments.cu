// GroupNorm, several blocks a group of an image: Welford's moments of each part of the run go to
// a workspace; in the second kernel every block merges its group's parts in the same order and
// writes its part, walking along the channels so that scale and shift are read once a channel.

#include "welford.cuh"
#include "norm_block_moments.cuh"

constexpr int kThreads = 128;

__global__ void groupnorm_part_moments(const float* __restrict__ x, float* __restrict__ counts,
                                       float* __restrict__ means, float* __restrict__ m2s,
                                       int size, int length) {
    __shared__ Moments warp_moments[kThreads / 32];

    const float* run = x + static_cast<long long>(blockIdx.y) * size;
    const int begin = blockIdx.x * length;
    const int end = min(begin + length, size);
    Moments own;
    own.count = 0.0f;
    own.mean = 0.0f;
    own.m2 = 0.0f;
    for (int i = begin + threadIdx.x; i < end; i += kThreads) {
        welford_push(own, run[i]);
    }
    own = welford_block(own, warp_moments);
    if (threadIdx.x == 0) {
        const int part = blockIdx.y * gridDim.x + blockIdx.x;
        counts[part] = own.count;
        means[part] = own.mean;
        m2s[part] = own.m2;
    }
}

__global__ void groupnorm_parts(const float* __restrict__ x, const float* __restrict__ weight,
                                const float* __restrict__ bias, const float* __restrict__ counts,
                                const float* __restrict__ means, const float* __restrict__ m2s,
                                float* __restrict__ y, int groups, int group_channels, int pixels,
                                int length, float eps) {
    Moments whole;
    whole.count = 0.0f;
    whole.mean = 0.0f;
    whole.m2 = 0.0f;
    for (int p = 0; p < gridDim.x; ++p) {
        const int part = blockIdx.y * gridDim.x + p;
        Moments other;
        other.count = counts[part];
        other.mean = means[part];
        other.m2 = m2s[part];
        whole = welford_merge(whole, other);
    }
    const float rstd = 1.0f / sqrtf(whole.m2 / whole.count + eps);

    const int group = blockIdx.y % groups;
    const int begin = blockIdx.x * length;
    const int end = min(begin + length, group_channels * pixels);
    const long long base = static_cast<long long>(blockIdx.y) * group_channels * pixels;
    for (int c = begin / pixels; c * pixels < end; ++c) {
        const float scale = weight[group * group_channels + c] * rstd;
        const float shift = bias[group * group_channels + c];
        const int from = max(begin, c * pixels);
        const int to = min(end, (c + 1) * pixels);
        for (int i = from + threadIdx.x; i < to; i += kThreads) {
            y[base + i] = (x[base + i] - whole.mean) * scale + shift;
        }
    }
}
