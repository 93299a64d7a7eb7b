// y = scale swish(x W^T + b) as inner products: a warp goes along one row of W and eight rows of x,
// each lane a quad of every 128 terms, and adds the lanes by shuffles. Nothing is staged; the rows
// of x are few enough for the caches.

#include "fused_activations.cuh"
#include "gemm_load.cuh"
#include "warp_reduce.cuh"

constexpr int kRows = 8;
constexpr int kWarps = 4;

__global__ void __launch_bounds__(32 * kWarps)
warp_dots_swish_scale(const float* __restrict__ x, const float* __restrict__ weight,
                      const float* __restrict__ bias, float* __restrict__ y, int batch,
                      int out_features, int in_features, float scale) {
    const int lane = threadIdx.x;
    const int col = blockIdx.x * kWarps + threadIdx.y;
    const int first_row = blockIdx.y * kRows;
    if (col >= out_features) {
        return;
    }
    const int rows = min(kRows, batch - first_row);
    const float* w_line = weight + static_cast<long long>(col) * in_features;
    const float* x_lines = x + static_cast<long long>(first_row) * in_features;

    float acc[kRows] = {};
    for (int k = 4 * lane; k < in_features; k += 4 * 32) {
        const float4 w = load_quad(w_line, k, in_features);
#pragma unroll
        for (int r = 0; r < kRows; ++r) {
            if (r < rows) {
                const float4 terms =
                    load_quad(x_lines + static_cast<long long>(r) * in_features, k, in_features);
                acc[r] += terms.x * w.x + terms.y * w.y + terms.z * w.z + terms.w * w.w;
            }
        }
    }

    // Lane r keeps the sum of row r.
    float own = 0.0f;
#pragma unroll
    for (int r = 0; r < kRows; ++r) {
        const float sum = warp_sum(acc[r]);
        if (lane == r) {
            own = sum;
        }
    }
    if (lane < rows) {
        float value = own + bias[col];
        value = swish(value);
        value *= scale;
        y[static_cast<long long>(first_row + lane) * out_features + col] = value;
    }
}
