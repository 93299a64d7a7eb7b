// y = gelu((x W^T + b) / divisor): four warps, two by two, make 32 x 64 outputs. The lanes of a
// warp are four down and eight across, with a patch of 4 x 4 each: a term costs a warp one load of
// 128 bytes of W and four quads of x, each for eight lanes.

#include "fused_activations.cuh"
#include "gemm_load.cuh"

constexpr int kRows = 32;
constexpr int kCols = 64;
constexpr int kTerms = 8;
constexpr int kPatch = 4;
constexpr int kLanesDown = 4;
constexpr int kLanesAcross = 8;
constexpr int kWarpRows = kLanesDown * kPatch;
constexpr int kWarpCols = kLanesAcross * kPatch;
constexpr int kThreads = 128;

__global__ void __launch_bounds__(kThreads)
matmul_divide_gelu(const float* __restrict__ x, const float* __restrict__ weight,
                   const float* __restrict__ bias, float* __restrict__ y, int batch,
                   int out_features, int in_features, float divisor) {
    __shared__ __align__(16) float tile_x[kTerms][kRows];
    __shared__ __align__(16) float tile_w[kTerms][kCols];

    const int tid = threadIdx.x;
    const int lane = tid % 32;
    const int warp = tid / 32;
    const int patch_row = warp / 2 * kWarpRows + lane / kLanesAcross * kPatch;
    const int patch_col = warp % 2 * kWarpCols + lane % kLanesAcross * kPatch;
    const int first_row = blockIdx.y * kRows;
    const int first_col = blockIdx.x * kCols;

    // Two threads bring the eight terms of a line; half of them have a line of x as well.
    const int line = tid / 2;
    const int term = tid % 2 * 4;
    const bool has_x = line < kRows && first_row + line < batch;
    const bool has_w = first_col + line < out_features;
    const float* line_x = x + static_cast<long long>(first_row + line) * in_features;
    const float* line_w = weight + static_cast<long long>(first_col + line) * in_features;

    float4 acc[kPatch];
#pragma unroll
    for (int i = 0; i < kPatch; ++i) {
        acc[i] = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    }
    for (int k0 = 0; k0 < in_features; k0 += kTerms) {
        const float4 zeros = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
        const float4 quad_w = has_w ? load_quad(line_w, k0 + term, in_features) : zeros;
        tile_w[term + 0][line] = quad_w.x;
        tile_w[term + 1][line] = quad_w.y;
        tile_w[term + 2][line] = quad_w.z;
        tile_w[term + 3][line] = quad_w.w;
        if (line < kRows) {
            const float4 quad_x = has_x ? load_quad(line_x, k0 + term, in_features) : zeros;
            tile_x[term + 0][line] = quad_x.x;
            tile_x[term + 1][line] = quad_x.y;
            tile_x[term + 2][line] = quad_x.z;
            tile_x[term + 3][line] = quad_x.w;
        }
        __syncthreads();

#pragma unroll
        for (int k = 0; k < kTerms; ++k) {
            const float4 a = *reinterpret_cast<const float4*>(&tile_x[k][patch_row]);
            const float4 b = *reinterpret_cast<const float4*>(&tile_w[k][patch_col]);
            const float factors[kPatch] = {a.x, a.y, a.z, a.w};
#pragma unroll
            for (int i = 0; i < kPatch; ++i) {
                acc[i].x += factors[i] * b.x;
                acc[i].y += factors[i] * b.y;
                acc[i].z += factors[i] * b.z;
                acc[i].w += factors[i] * b.w;
            }
        }
        __syncthreads();
    }

    const int col = first_col + patch_col;
    const float4 added = load_quad(bias, col, out_features);
#pragma unroll
    for (int i = 0; i < kPatch; ++i) {
        const int row = first_row + patch_row + i;
        if (row >= batch) {
            break;
        }
        float values[kPatch] = {acc[i].x + added.x, acc[i].y + added.y, acc[i].z + added.z,
                                acc[i].w + added.w};
#pragma unroll
        for (int j = 0; j < kPatch; ++j) {
            float value = values[j];
            value /= divisor;
            value = gelu_erf(value);
            values[j] = value;
        }
        store_quad(y + static_cast<long long>(row) * out_features, col, out_features,
                   make_float4(values[0], values[1], values[2], values[3]));
    }
}
