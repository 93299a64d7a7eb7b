// Attention in one kernel that never stores a score: a block takes four queries of one head, a warp
// each, and meets the keys 16 at a time. A warp's lanes are 16 keys twice: its lower half sums the
// even, its upper half the odd terms of a score. A running maximum and a running sum are rescaled
// when the maximum grows, and so are the sums of values, which wait with the queries in (dynamic)
// shared memory: heads are too wide for registers, 1,024 by contract.

#include "limits.cuh"
#include "warp_reduce.cuh"

constexpr int kQueries = 4;
constexpr int kKeys = 16;
constexpr int kDims = 8;
constexpr int kThreads = kQueries * 32;

__global__ void attention_flash(const float* __restrict__ q, const float* __restrict__ k,
                                const float* __restrict__ v, float* __restrict__ out, int seq,
                                int dim) {
    extern __shared__ float rows[];
    __shared__ float tile_k[kKeys][kDims + 1];
    __shared__ float weights[kQueries][kKeys];

    const int tid = threadIdx.x;
    const int lane = tid % 32;
    const int warp = tid / 32;
    const int own_key = lane % kKeys;
    const int half = lane / kKeys;
    const int query = blockIdx.x * kQueries + warp;
    const long long head = static_cast<long long>(blockIdx.y) * seq * dim;
    const float scale = 1.0f / sqrtf(static_cast<float>(dim));

    float* own_q = rows + warp * dim;
    float* own_out = rows + (kQueries + warp) * dim;
    for (int d = lane; d < dim; d += 32) {
        own_q[d] = query < seq ? q[head + static_cast<long long>(query) * dim + d] * scale : 0.0f;
        own_out[d] = 0.0f;
    }

    float largest = -FLT_MAX;
    float total = 0.0f;
    for (int k0 = 0; k0 < seq; k0 += kKeys) {
        float score = 0.0f;
        for (int d0 = 0; d0 < dim; d0 += kDims) {
            for (int i = tid; i < kKeys * kDims; i += kThreads) {
                const int key = k0 + i / kDims;
                const int d = d0 + i % kDims;
                const bool inside = key < seq && d < dim;
                tile_k[i / kDims][i % kDims] =
                    inside ? k[head + static_cast<long long>(key) * dim + d] : 0.0f;
            }
            __syncthreads();
            const int dims = min(kDims, dim - d0);
            for (int d = half; d < dims; d += 2) {
                score += own_q[d0 + d] * tile_k[own_key][d];
            }
            __syncthreads();
        }
        score += __shfl_xor_sync(0xffffffffu, score, kKeys);

        const bool is_key = k0 + own_key < seq;
        const float grown = fmaxf(largest, warp_max(is_key ? score : -FLT_MAX));
        const float shrink = expf(largest - grown);
        float weight = 0.0f;
        if (is_key && half == 0) {
            weight = expf(score - grown);
            weights[warp][own_key] = weight;
        }
        total = total * shrink + warp_sum(weight);
        largest = grown;
        __syncwarp();

        const int keys = min(kKeys, seq - k0);
        const float* values = v + head + static_cast<long long>(k0) * dim;
        for (int d = lane; d < dim; d += 32) {
            float sum = own_out[d] * shrink;
            for (int j = 0; j < keys; ++j) {
                sum += weights[warp][j] * values[j * dim + d];
            }
            own_out[d] = sum;
        }
        __syncwarp();
    }

    if (query < seq) {
        const float inverse = 1.0f / total;
        for (int d = lane; d < dim; d += 32) {
            out[head + static_cast<long long>(query) * dim + d] = own_out[d] * inverse;
        }
    }
}
