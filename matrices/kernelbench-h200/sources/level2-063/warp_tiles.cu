// y = relu(x W^T + b) / divisor: four warps make 32 x 32 outputs, each a square of 16 x 16, its
// lanes patches of 2 x 4. Lanes of a warp share few rows and columns, and a fragment is one vector
// load from shared memory.

#include "fused_activations.cuh"
#include "gemm_load.cuh"

constexpr int kTile = 32;
constexpr int kTerms = 16;
constexpr int kWarpTile = 16;
constexpr int kPatchRows = 2;
constexpr int kPatchCols = 4;
constexpr int kLanesAcross = kWarpTile / kPatchCols;
constexpr int kThreads = 128;
constexpr int kPitch = kTile + 4;  // a multiple of four, so that fragments stay aligned

__device__ __forceinline__ void stage_line(float (&tile)[kTerms][kPitch],
                                           const float* __restrict__ matrix, int first, int rows,
                                           int term, int k0, int terms, int line) {
    float4 quad = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    if (first + line < rows) {
        quad = load_quad(matrix + static_cast<long long>(first + line) * terms, k0 + term, terms);
    }
    tile[term][line] = quad.x;
    tile[term + 1][line] = quad.y;
    tile[term + 2][line] = quad.z;
    tile[term + 3][line] = quad.w;
}

__global__ void __launch_bounds__(kThreads)
linear_relu_divide(const float* __restrict__ x, const float* __restrict__ weight,
                   const float* __restrict__ bias, float* __restrict__ y, int batch,
                   int out_features, int in_features, float divisor) {
    __shared__ __align__(16) float tile_x[kTerms][kPitch];
    __shared__ __align__(16) float tile_w[kTerms][kPitch];

    const int lane = threadIdx.x % 32;
    const int warp = threadIdx.x / 32;
    const int first_row = blockIdx.y * kTile;
    const int first_col = blockIdx.x * kTile;
    const int patch_row = warp / 2 * kWarpTile + lane / kLanesAcross * kPatchRows;
    const int patch_col = warp % 2 * kWarpTile + lane % kLanesAcross * kPatchCols;
    const int line = threadIdx.x / (kTerms / 4);
    const int term = threadIdx.x % (kTerms / 4) * 4;

    float4 upper = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    float4 lower = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    for (int k0 = 0; k0 < in_features; k0 += kTerms) {
        stage_line(tile_x, x, first_row, batch, term, k0, in_features, line);
        stage_line(tile_w, weight, first_col, out_features, term, k0, in_features, line);
        __syncthreads();
#pragma unroll
        for (int k = 0; k < kTerms; ++k) {
            const float2 rows = *reinterpret_cast<const float2*>(&tile_x[k][patch_row]);
            const float4 cols = *reinterpret_cast<const float4*>(&tile_w[k][patch_col]);
            upper.x += rows.x * cols.x;
            upper.y += rows.x * cols.y;
            upper.z += rows.x * cols.z;
            upper.w += rows.x * cols.w;
            lower.x += rows.y * cols.x;
            lower.y += rows.y * cols.y;
            lower.z += rows.y * cols.z;
            lower.w += rows.y * cols.w;
        }
        __syncthreads();
    }

    const int col = first_col + patch_col;
    const float4 added = load_quad(bias, col, out_features);
    for (int i = 0; i < kPatchRows; ++i) {
        const int row = first_row + patch_row + i;
        if (row < batch) {
            float4 quad = i == 0 ? upper : lower;
            quad.x = relu(quad.x + added.x);
            quad.y = relu(quad.y + added.y);
            quad.z = relu(quad.z + added.z);
            quad.w = relu(quad.w + added.w);
            quad.x /= divisor;
            quad.y /= divisor;
            quad.z /= divisor;
            quad.w /= divisor;
            store_quad(y + static_cast<long long>(row) * out_features, col, out_features, quad);
        }
    }
}
