// y = scale sigmoid(h) + h of h = x W^T + b. Both factors lie along the terms, and so they stay in
// shared memory: 8 x 8 threads make 32 x 32 outputs from quads of four terms. Where a quad lies
// depends on its row, by exclusive or, so that eight neighbouring rows have their quads in
// different banks.

#include "fused_activations.cuh"
#include "gemm_load.cuh"

constexpr int kTile = 32;
constexpr int kQuads = 4;
constexpr int kTerms = 4 * kQuads;
constexpr int kSide = 8;
constexpr int kPatch = kTile / kSide;
constexpr int kThreads = kSide * kSide;

__device__ __forceinline__ int swizzled(int row, int quad) {
    return row * kQuads + (quad ^ (row / 2 % kQuads));
}

__device__ __forceinline__ float dot(float acc, float4 a, float4 b) {
    acc += a.x * b.x;
    acc += a.y * b.y;
    acc += a.z * b.z;
    acc += a.w * b.w;
    return acc;
}

__device__ __forceinline__ void stage_quads(float4 (&tile)[kTile * kQuads],
                                            const float* __restrict__ matrix, int first, int rows,
                                            int k0, int terms, int tid) {
    for (int i = tid; i < kTile * kQuads; i += kThreads) {
        const int line = i / kQuads;
        const int quad = i % kQuads;
        const bool inside = first + line < rows;
        tile[swizzled(line, quad)] =
            inside ? load_quad(matrix + static_cast<long long>(first + line) * terms,
                               k0 + 4 * quad, terms)
                   : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    }
}

__global__ void __launch_bounds__(kThreads)
gemm_sigmoid_scale_residual(const float* __restrict__ x, const float* __restrict__ weight,
                            const float* __restrict__ bias, float* __restrict__ y, int batch,
                            int out_features, int in_features, float scale) {
    __shared__ float4 tile_x[kTile * kQuads];
    __shared__ float4 tile_w[kTile * kQuads];

    const int tx = threadIdx.x;
    const int ty = threadIdx.y;
    const int tid = ty * kSide + tx;
    const int first_row = blockIdx.y * kTile;
    const int first_col = blockIdx.x * kTile;

    float acc[kPatch][kPatch] = {};
    for (int k0 = 0; k0 < in_features; k0 += kTerms) {
        stage_quads(tile_x, x, first_row, batch, k0, in_features, tid);
        stage_quads(tile_w, weight, first_col, out_features, k0, in_features, tid);
        __syncthreads();
#pragma unroll
        for (int quad = 0; quad < kQuads; ++quad) {
            float4 cols[kPatch];
#pragma unroll
            for (int j = 0; j < kPatch; ++j) {
                cols[j] = tile_w[swizzled(tx + j * kSide, quad)];
            }
#pragma unroll
            for (int i = 0; i < kPatch; ++i) {
                const float4 row = tile_x[swizzled(ty + i * kSide, quad)];
#pragma unroll
                for (int j = 0; j < kPatch; ++j) {
                    acc[i][j] = dot(acc[i][j], row, cols[j]);
                }
            }
        }
        __syncthreads();
    }

    for (int j = 0; j < kPatch; ++j) {
        const int col = first_col + tx + j * kSide;
        if (col >= out_features) {
            break;
        }
        for (int i = 0; i < kPatch; ++i) {
            const int row = first_row + ty + i * kSide;
            if (row < batch) {
                const float original = acc[i][j] + bias[col];
                float value = logistic(original);
                value *= scale;
                value += original;
                y[static_cast<long long>(row) * out_features + col] = value;
            }
        }
    }
}
