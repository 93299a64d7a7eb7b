// y = gelu(hardtanh(scale (x W^T + b))): 8 x 8 threads make 32 x 32 outputs. The next slice of
// eight terms is on its way in registers while the present one is multiplied, and goes to the
// other of two buffers: one barrier a slice.

#include "fused_activations.cuh"
#include "gemm_fragment.cuh"
#include "gemm_load.cuh"

constexpr int kTile = 32;
constexpr int kTerms = 8;
constexpr int kPatch = 4;
constexpr int kSide = kTile / kPatch;
constexpr int kThreads = kSide * kSide;

struct ScaleHardtanhGelu {
    float scale;
    float low;
    float high;

    __device__ __forceinline__ float operator()(float value) const {
        value *= scale;
        value = clamp_to(value, low, high);
        value = gelu_erf(value);
        return value;
    }
};

__device__ __forceinline__ float4 fetch(const float* __restrict__ matrix, int row, int rows,
                                        int term, int terms) {
    if (row >= rows) {
        return make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    }
    return load_quad(matrix + static_cast<long long>(row) * terms, term, terms);
}

__device__ __forceinline__ void keep(float (&slice)[kTerms][kTile], int term, int line,
                                     float4 quad) {
    slice[term + 0][line] = quad.x;
    slice[term + 1][line] = quad.y;
    slice[term + 2][line] = quad.z;
    slice[term + 3][line] = quad.w;
}

__global__ void __launch_bounds__(kThreads)
gemm_scale_hardtanh_gelu(const float* __restrict__ x, const float* __restrict__ weight,
                         const float* __restrict__ bias, float* __restrict__ y, int batch,
                         int out_features, int in_features, float scale, float low, float high) {
    __shared__ float slices_x[2][kTerms][kTile];
    __shared__ float slices_w[2][kTerms][kTile];

    const int tid = threadIdx.y * kSide + threadIdx.x;
    const int line = tid / 2;
    const int term = tid % 2 * 4;
    const int row_x = blockIdx.y * kTile + line;
    const int row_w = blockIdx.x * kTile + line;

    keep(slices_x[0], term, line, fetch(x, row_x, batch, term, in_features));
    keep(slices_w[0], term, line, fetch(weight, row_w, out_features, term, in_features));
    __syncthreads();

    float acc[kPatch][kPatch] = {};
    int stage = 0;
    for (int k0 = 0; k0 < in_features; k0 += kTerms) {
        const int next = k0 + kTerms;
        float4 quad_x = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
        float4 quad_w = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
        if (next < in_features) {
            quad_x = fetch(x, row_x, batch, next + term, in_features);
            quad_w = fetch(weight, row_w, out_features, next + term, in_features);
        }
#pragma unroll
        for (int k = 0; k < kTerms; ++k) {
            float fragment_x[kPatch];
            float fragment_w[kPatch];
#pragma unroll
            for (int i = 0; i < kPatch; ++i) {
                fragment_x[i] = slices_x[stage][k][threadIdx.y * kPatch + i];
                fragment_w[i] = slices_w[stage][k][threadIdx.x * kPatch + i];
            }
            outer_product(acc, fragment_x, fragment_w);
        }
        stage ^= 1;
        keep(slices_x[stage], term, line, quad_x);
        keep(slices_w[stage], term, line, quad_w);
        __syncthreads();
    }

    const ScaleHardtanhGelu epilogue = {scale, low, high};
    const int first_col = blockIdx.x * kTile + threadIdx.x * kPatch;
    for (int i = 0; i < kPatch; ++i) {
        const int row = blockIdx.y * kTile + threadIdx.y * kPatch + i;
        if (row >= batch) {
            return;
        }
        float values[kPatch];
        for (int j = 0; j < kPatch; ++j) {
            const int col = min(first_col + j, out_features - 1);
            values[j] = epilogue(acc[i][j] + bias[col]);
        }
        store_quad(y + static_cast<long long>(row) * out_features, first_col, out_features,
                   make_float4(values[0], values[1], values[2], values[3]));
    }
}
