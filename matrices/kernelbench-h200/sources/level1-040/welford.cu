// LayerNorm over the last n elements of each row, one block a row: Welford's moments a thread in
// a strided loop, merged by shuffles in a warp and through shared memory in the block.

#include "welford.cuh"

constexpr int kThreads = 128;
constexpr int kWarps = kThreads / 32;

__global__ void layernorm_welford(const float* __restrict__ x, const float* __restrict__ weight,
                                  const float* __restrict__ bias, float* __restrict__ y, int n,
                                  float eps) {
    __shared__ Moments warp_moments[kWarps];
    __shared__ float row_mean;
    __shared__ float row_rstd;

    const int tid = threadIdx.x;
    const int lane = tid % 32;
    const int warp = tid / 32;
    const float* row_in = x + static_cast<long long>(blockIdx.x) * n;
    float* row_out = y + static_cast<long long>(blockIdx.x) * n;

    Moments own;
    own.count = 0.0f;
    own.mean = 0.0f;
    own.m2 = 0.0f;
    for (int i = tid; i < n; i += kThreads) {
        welford_push(own, row_in[i]);
    }

    own = welford_warp(own);
    if (lane == 0) {
        warp_moments[warp] = own;
    }
    __syncthreads();

    if (tid == 0) {
        Moments row = warp_moments[0];
        for (int w = 1; w < kWarps; ++w) {
            row = welford_merge(row, warp_moments[w]);
        }
        row_mean = row.mean;
        row_rstd = rsqrtf(row.m2 / row.count + eps);
    }
    __syncthreads();

    const float mean = row_mean;
    const float rstd = row_rstd;
    for (int i = tid; i < n; i += kThreads) {
        row_out[i] = (row_in[i] - mean) * rstd * weight[i] + bias[i];
    }
}
