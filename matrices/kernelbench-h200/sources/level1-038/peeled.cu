// y = x / mean of |x| along a row, one block a row, in float4 although rows of odd length begin
// anywhere: up to three elements are peeled off in front of the first whole vector, and up to three
// are left behind the last one. Multiplies by cols / sum.

#include "warp_reduce.cuh"
#include "block_reduce.cuh"

constexpr int kThreads = 128;

__global__ void l1norm_peeled(const float* __restrict__ x, float* __restrict__ y, int cols) {
    __shared__ float warp_totals[kThreads / 32];

    const int tid = threadIdx.x;
    const long long begin = static_cast<long long>(blockIdx.x) * cols;
    const int head = min(static_cast<int>((4 - begin % 4) % 4), cols);
    const int vectors = (cols - head) / 4;
    const int tail = head + 4 * vectors;
    const float* row_in = x + begin;
    float* row_out = y + begin;
    const float4* body_in = reinterpret_cast<const float4*>(row_in + head);
    float4* body_out = reinterpret_cast<float4*>(row_out + head);

    float sum = 0.0f;
    if (tid < head) {
        sum += fabsf(row_in[tid]);
    }
    for (int v = tid; v < vectors; v += kThreads) {
        const float4 f = body_in[v];
        sum += (fabsf(f.x) + fabsf(f.y)) + (fabsf(f.z) + fabsf(f.w));
    }
    if (tail + tid < cols) {
        sum += fabsf(row_in[tail + tid]);
    }
    const float scale = cols / block_sum(sum, warp_totals);

    if (tid < head) {
        row_out[tid] = row_in[tid] * scale;
    }
    for (int v = tid; v < vectors; v += kThreads) {
        float4 f = body_in[v];
        f.x *= scale;
        f.y *= scale;
        f.z *= scale;
        f.w *= scale;
        body_out[v] = f;
    }
    if (tail + tid < cols) {
        row_out[tail + tid] = row_in[tail + tid] * scale;
    }
}
