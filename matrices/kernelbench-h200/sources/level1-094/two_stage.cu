// Mean of squared differences in two kernels: every block sums a contiguous part whose length is a
// multiple of four, four elements a load; one block adds the partial sums and divides.

#include "warp_reduce.cuh"
#include "block_reduce.cuh"

constexpr int kThreads = 128;

__global__ void mse_partial(const float* __restrict__ predictions,
                            const float* __restrict__ targets, float* __restrict__ partial,
                            long long n, long long length) {
    __shared__ float warp_totals[kThreads / 32];

    const long long begin = blockIdx.x * length;
    const long long end = begin + length < n ? begin + length : n;
    const long long whole = begin < end ? (end - begin) / 4 : 0;
    const float4* p4 = reinterpret_cast<const float4*>(predictions + begin);
    const float4* t4 = reinterpret_cast<const float4*>(targets + begin);

    float sum = 0.0f;
    for (long long i = threadIdx.x; i < whole; i += kThreads) {
        const float4 p = p4[i];
        const float4 t = t4[i];
        const float dx = p.x - t.x;
        const float dy = p.y - t.y;
        const float dz = p.z - t.z;
        const float dw = p.w - t.w;
        sum += (dx * dx + dy * dy) + (dz * dz + dw * dw);
    }
    for (long long i = begin + whole * 4 + threadIdx.x; i < end; i += kThreads) {
        const float difference = predictions[i] - targets[i];
        sum += difference * difference;
    }

    sum = block_sum(sum, warp_totals);
    if (threadIdx.x == 0) {
        partial[blockIdx.x] = sum;
    }
}

__global__ void mse_mean(const float* __restrict__ partial, float* __restrict__ loss, int blocks,
                         long long n) {
    __shared__ float warp_totals[kThreads / 32];

    float sum = 0.0f;
    for (int b = threadIdx.x; b < blocks; b += kThreads) {
        sum += partial[b];
    }
    sum = block_sum(sum, warp_totals);
    if (threadIdx.x == 0) {
        loss[0] = sum / n;
    }
}
