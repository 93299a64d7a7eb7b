// InstanceNorm without parameters, one block a plane: each thread takes the moments of two pixels
// at a time, which need no division, and merges them with what it has; the block merges by
// shuffles and through shared memory.

#include "welford.cuh"
#include "norm_block_moments.cuh"

constexpr int kThreads = 128;

__device__ __forceinline__ Moments moments_of_two(float a, float b) {
    const float half = 0.5f * (b - a);
    Moments two;
    two.count = 2.0f;
    two.mean = a + half;
    two.m2 = 2.0f * half * half;
    return two;
}

__global__ void instancenorm_pairs(const float* __restrict__ x, float* __restrict__ y, int pixels,
                                   float eps) {
    __shared__ Moments warp_moments[kThreads / 32];

    const int tid = threadIdx.x;
    const long long base = static_cast<long long>(blockIdx.x) * pixels;
    Moments own;
    own.count = 0.0f;
    own.mean = 0.0f;
    own.m2 = 0.0f;
    int p = tid;
    for (; p + kThreads < pixels; p += 2 * kThreads) {
        own = welford_merge(own, moments_of_two(x[base + p], x[base + p + kThreads]));
    }
    if (p < pixels) {
        welford_push(own, x[base + p]);
    }
    const Moments plane = welford_block(own, warp_moments);

    const float root = sqrtf(plane.m2 / plane.count + eps);
    for (int q = tid; q < pixels; q += kThreads) {
        y[base + q] = (x[base + q] - plane.mean) / root;
    }
}
