// Linear layer, BatchNorm over the batch, one learned scale, softmax of the rows. Tiles keep both
// factors as they lie in memory, so that a thread's dot products go along quads of terms. The
// moments of a column are folded with the affine map into a gain and an offset; the softmax's first
// pass applies these and the scale on its way, and has maximum and sum together at its end.

#include "gemm_load.cuh"
#include "limits.cuh"
#include "softmax_running.cuh"
#include "welford.cuh"

constexpr int kTile = 32;
constexpr int kTerms = 32;
constexpr int kQuads = kTerms / 4;
constexpr int kSide = 16;
// Four words more: eight lanes that read quads of neighbouring lines meet all banks.
constexpr int kPitch = kTerms + 4;
constexpr int kStrips = 8;
constexpr int kRowThreads = 128;
constexpr int kRowWarps = kRowThreads / 32;

__device__ __forceinline__ float dot(float4 a, float4 b) {
    return a.x * b.x + a.y * b.y + (a.z * b.z + a.w * b.w);
}

__global__ void __launch_bounds__(kSide * kSide)
gemm_quads(const float* __restrict__ x, const float* __restrict__ weight,
           const float* __restrict__ bias, float* __restrict__ hidden, int batch, int out_features,
           int in_features) {
    __shared__ __align__(16) float tile_x[kTile][kPitch];
    __shared__ __align__(16) float tile_w[kTile][kPitch];

    const int tid = threadIdx.y * kSide + threadIdx.x;
    const int line = tid / kQuads;
    const int part = tid % kQuads * 4;
    const int x_row = blockIdx.y * kTile + line;
    const int w_row = blockIdx.x * kTile + line;

    float acc[2][2] = {};
    for (int k0 = 0; k0 < in_features; k0 += kTerms) {
        float4 quad_x = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
        float4 quad_w = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
        if (x_row < batch) {
            quad_x = load_quad(x + static_cast<long long>(x_row) * in_features, k0 + part,
                               in_features);
        }
        if (w_row < out_features) {
            quad_w = load_quad(weight + static_cast<long long>(w_row) * in_features, k0 + part,
                               in_features);
        }
        *reinterpret_cast<float4*>(&tile_x[line][part]) = quad_x;
        *reinterpret_cast<float4*>(&tile_w[line][part]) = quad_w;
        __syncthreads();

#pragma unroll
        for (int t = 0; t < kTerms; t += 4) {
            float4 rows[2];
            float4 cols[2];
#pragma unroll
            for (int i = 0; i < 2; ++i) {
                rows[i] =
                    *reinterpret_cast<const float4*>(&tile_x[threadIdx.y + i * kSide][t]);
                cols[i] =
                    *reinterpret_cast<const float4*>(&tile_w[threadIdx.x + i * kSide][t]);
            }
#pragma unroll
            for (int i = 0; i < 2; ++i) {
                acc[i][0] += dot(rows[i], cols[0]);
                acc[i][1] += dot(rows[i], cols[1]);
            }
        }
        __syncthreads();
    }

    for (int i = 0; i < 2; ++i) {
        const int row = blockIdx.y * kTile + threadIdx.y + i * kSide;
        for (int j = 0; j < 2; ++j) {
            const int col = blockIdx.x * kTile + threadIdx.x + j * kSide;
            if (row < batch && col < out_features) {
                hidden[static_cast<long long>(row) * out_features + col] = acc[i][j] + bias[col];
            }
        }
    }
}

// A lane has a column, eight warps take every eighth row of it.
__global__ void fold_moments(const float* __restrict__ hidden,
                             const float* __restrict__ norm_weight,
                             const float* __restrict__ norm_bias, float* __restrict__ gains,
                             float* __restrict__ offsets, int batch, int out_features, float eps) {
    __shared__ Moments strips[kStrips][32];

    const int col = blockIdx.x * 32 + threadIdx.x;
    Moments own = {0.0f, 0.0f, 0.0f};
    if (col < out_features) {
        for (int row = threadIdx.y; row < batch; row += kStrips) {
            welford_push(own, hidden[static_cast<long long>(row) * out_features + col]);
        }
    }
    strips[threadIdx.y][threadIdx.x] = own;
    __syncthreads();
    if (threadIdx.y > 0 || col >= out_features) {
        return;
    }
    for (int s = 1; s < kStrips; ++s) {
        own = welford_merge(own, strips[s][threadIdx.x]);
    }
    const float variance = own.m2 / own.count;
    const float gain = norm_weight[col] * rsqrtf(variance + eps);
    gains[col] = gain;
    offsets[col] = norm_bias[col] - own.mean * gain;
}

__global__ void __launch_bounds__(kRowThreads)
normalise_scale_softmax(const float* __restrict__ hidden, const float* __restrict__ gains,
                        const float* __restrict__ offsets, const float* __restrict__ scale,
                        float* __restrict__ y, int out_features) {
    __shared__ Running warps[kRowWarps];

    const long long first = static_cast<long long>(blockIdx.x) * out_features;
    const float factor = scale[0];

    Running running = running_none();
    for (int col = threadIdx.x; col < out_features; col += kRowThreads) {
        float value = hidden[first + col] * gains[col] + offsets[col];
        value *= factor;
        running_push(running, value);
        y[first + col] = value;
    }
    running = running_warp(running);
    if (threadIdx.x % 32 == 0) {
        warps[threadIdx.x / 32] = running;
    }
    __syncthreads();
    Running row = warps[0];
    for (int w = 1; w < kRowWarps; ++w) {
        row = running_merge(row, warps[w]);
    }

    // Threads read back only what they wrote themselves.
    for (int col = threadIdx.x; col < out_features; col += kRowThreads) {
        y[first + col] = expf(y[first + col] - row.top) / row.sum;
    }
}
