// Linear layer with its terms split over blocks, 32 x 32 outputs each and 2 x 2 a thread. Whoever
// adds up the partial products has the rest to do as well: a warp takes one group of one row, a
// lane one feature, through biases, hardtanh and Mish to GroupNorm.

#include "fused_activations.cuh"
#include "warp_reduce.cuh"

constexpr int kTile = 32;
constexpr int kTerms = 16;
constexpr int kSide = 16;
constexpr int kPitch = kTile + 2;
constexpr int kWidth = 32;

__global__ void __launch_bounds__(kSide * kSide)
gemm_partial(const float* __restrict__ x, const float* __restrict__ weight,
             float* __restrict__ partial, int batch, int out_features, int in_features, int share) {
    __shared__ __align__(8) float tile_x[kTerms][kPitch];
    __shared__ __align__(8) float tile_w[kTerms][kPitch];

    const int tx = threadIdx.x;
    const int ty = threadIdx.y;
    const int first_row = blockIdx.y * kTile;
    const int first_col = blockIdx.x * kTile;
    const int begin = blockIdx.z * share;
    const int end = min(begin + share, in_features);

    float2 upper = make_float2(0.0f, 0.0f);
    float2 lower = make_float2(0.0f, 0.0f);
    for (int k0 = begin; k0 < end; k0 += kTerms) {
        const int k = k0 + tx;
        for (int line = ty; line < kTile; line += kSide) {
            const int row = first_row + line;
            const int col = first_col + line;
            tile_x[tx][line] = row < batch && k < end
                ? x[static_cast<long long>(row) * in_features + k] : 0.0f;
            tile_w[tx][line] = col < out_features && k < end
                ? weight[static_cast<long long>(col) * in_features + k] : 0.0f;
        }
        __syncthreads();
#pragma unroll
        for (int t = 0; t < kTerms; ++t) {
            const float2 a = *reinterpret_cast<const float2*>(&tile_x[t][2 * ty]);
            const float2 b = *reinterpret_cast<const float2*>(&tile_w[t][2 * tx]);
            upper.x += a.x * b.x;
            upper.y += a.x * b.y;
            lower.x += a.y * b.x;
            lower.y += a.y * b.y;
        }
        __syncthreads();
    }

    // Groups of 32 features fill the tiles: a pair of columns is inside or outside as a whole.
    const int row = first_row + 2 * ty;
    const int col = first_col + 2 * tx;
    if (col >= out_features) {
        return;
    }
    const long long place =
        (static_cast<long long>(blockIdx.z) * batch + row) * out_features + col;
    if (row < batch) {
        *reinterpret_cast<float2*>(&partial[place]) = upper;
    }
    if (row + 1 < batch) {
        *reinterpret_cast<float2*>(&partial[place + out_features]) = lower;
    }
}

__global__ void combine_bias_hardtanh_mish_groupnorm(
    const float* __restrict__ partial, const float* __restrict__ bias,
    const float* __restrict__ added_bias, const float* __restrict__ norm_weight,
    const float* __restrict__ norm_bias, float* __restrict__ y, int batch, int groups, int splits,
    float low, float high, float eps) {
    const int group = blockIdx.x * blockDim.y + threadIdx.y;
    if (group >= groups) {
        return;
    }
    const int feature = group * kWidth + threadIdx.x;
    const long long elements = static_cast<long long>(batch) * groups * kWidth;
    const long long place = static_cast<long long>(blockIdx.y) * groups * kWidth + feature;

    float value = partial[place];
    for (int s = 1; s < splits; ++s) {
        value += partial[s * elements + place];
    }
    value += bias[feature];
    value += added_bias[feature];
    value = clamp_to(value, low, high);
    value = mish(value);

    const float mean = warp_sum(value) / kWidth;
    value -= mean;
    const float variance = warp_sum(value * value) / kWidth;
    value *= rsqrtf(variance + eps);
    value = value * norm_weight[feature] + norm_bias[feature];
    y[place] = value;
}
