// Linear layer, GroupNorm over groups of 16 features, LeakyReLU, doubled by adding it to itself. A
// thread holds four neighbouring features of two rows, so that a group is four lanes: its moments
// are two shuffles away, and nothing but the result goes to memory. 128 threads make 32 rows of two
// groups.

#include "fused_activations.cuh"
#include "gemm_load.cuh"

constexpr int kWidth = 16;
constexpr int kGroups = 2;
constexpr int kCols = kGroups * kWidth;
constexpr int kAcross = kCols / 4;
constexpr int kDown = 16;
constexpr int kOwnRows = 2;
constexpr int kRows = kDown * kOwnRows;
constexpr int kTerms = 16;
constexpr int kThreads = kAcross * kDown;
constexpr int kLanes = kWidth / 4;

__device__ __forceinline__ float group_mean(float4 quad) {
    float sum = (quad.x + quad.y) + (quad.z + quad.w);
    for (int offset = 1; offset < kLanes; offset *= 2) {
        sum += __shfl_xor_sync(0xffffffffu, sum, offset);
    }
    return sum / kWidth;
}

__global__ void __launch_bounds__(kThreads)
matmul_groupnorm_leaky_sum(const float* __restrict__ x, const float* __restrict__ weight,
                           const float* __restrict__ bias, const float* __restrict__ norm_weight,
                           const float* __restrict__ norm_bias, float* __restrict__ y, int batch,
                           int out_features, int in_features, float eps, float slope) {
    __shared__ float tile_x[kRows][kTerms + 1];
    __shared__ __align__(16) float tile_w[kTerms][kCols + 4];

    const int across = threadIdx.x % kAcross * 4;
    const int down = threadIdx.x / kAcross;
    const int first_row = blockIdx.y * kRows;
    const int first_col = blockIdx.x * kCols;

    float4 acc[kOwnRows];
    for (int i = 0; i < kOwnRows; ++i) {
        acc[i] = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    }
    for (int k0 = 0; k0 < in_features; k0 += kTerms) {
        const int k = k0 + threadIdx.x % kTerms;
        for (int line = threadIdx.x / kTerms; line < kRows; line += kThreads / kTerms) {
            const int row = first_row + line;
            tile_x[line][threadIdx.x % kTerms] = row < batch && k < in_features
                ? x[static_cast<long long>(row) * in_features + k] : 0.0f;
        }
        for (int line = threadIdx.x / kTerms; line < kCols; line += kThreads / kTerms) {
            const int col = first_col + line;
            tile_w[threadIdx.x % kTerms][line] = col < out_features && k < in_features
                ? weight[static_cast<long long>(col) * in_features + k] : 0.0f;
        }
        __syncthreads();
#pragma unroll
        for (int t = 0; t < kTerms; ++t) {
            const float4 factors = *reinterpret_cast<const float4*>(&tile_w[t][across]);
#pragma unroll
            for (int i = 0; i < kOwnRows; ++i) {
                const float value = tile_x[down + i * kDown][t];
                acc[i].x += value * factors.x;
                acc[i].y += value * factors.y;
                acc[i].z += value * factors.z;
                acc[i].w += value * factors.w;
            }
        }
        __syncthreads();
    }

    const int col = first_col + across;
    const float4 added = load_quad(bias, col, out_features);
    const float4 gain = load_quad(norm_weight, col, out_features);
    const float4 shift = load_quad(norm_bias, col, out_features);
    for (int i = 0; i < kOwnRows; ++i) {
        float4 quad = acc[i];
        quad.x += added.x;
        quad.y += added.y;
        quad.z += added.z;
        quad.w += added.w;

        const float mean = group_mean(quad);
        quad.x -= mean;
        quad.y -= mean;
        quad.z -= mean;
        quad.w -= mean;
        const float variance = group_mean(make_float4(quad.x * quad.x, quad.y * quad.y,
                                                      quad.z * quad.z, quad.w * quad.w));
        const float inverse = rsqrtf(variance + eps);

        float values[4] = {
            quad.x * inverse * gain.x + shift.x, quad.y * inverse * gain.y + shift.y,
            quad.z * inverse * gain.z + shift.z, quad.w * inverse * gain.w + shift.w};
        for (int j = 0; j < 4; ++j) {
            values[j] = leaky_relu(values[j], slope);
            values[j] += values[j];
        }
        const int row = first_row + down + i * kDown;
        if (row < batch) {
            store_quad(y + static_cast<long long>(row) * out_features, col, out_features,
                       make_float4(values[0], values[1], values[2], values[3]));
        }
    }
}
