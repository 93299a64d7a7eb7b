// y = clamp(tanh(clamp(swish(x W^T + b) / divisor))) in tiles of 32 x 32, for which two teams of 64
// threads take slices of terms in turn: each has partial sums of the whole tile, 4 x 4 a thread.
// At the end a team gives the other one half of the rows of each patch and finishes the rest.

#include "fused_activations.cuh"
#include "gemm_fragment.cuh"
#include "gemm_nt_stage.cuh"

constexpr int kTile = 32;
constexpr int kTerms = 16;
constexpr int kPatch = 4;
constexpr int kSide = kTile / kPatch;
constexpr int kTeam = kSide * kSide;
constexpr int kTeams = 2;
constexpr int kShare = kPatch / kTeams;
constexpr int kPitch = kTile + 1;

__global__ void __launch_bounds__(kTeams * kTeam)
gemm_swish_divide_clamp_tanh_clamp(const float* __restrict__ x, const float* __restrict__ weight,
                                   const float* __restrict__ bias, float* __restrict__ y,
                                   int batch, int out_features, int in_features, float divisor,
                                   float low, float high) {
    __shared__ float tile_x[kTeams][kTerms * kPitch];
    __shared__ float tile_w[kTeams][kTerms * kPitch];
    __shared__ float given[kTile][kPitch];

    const int team = threadIdx.z;
    const int member = threadIdx.y * kSide + threadIdx.x;
    const int first_row = blockIdx.y * kTile;
    const int first_col = blockIdx.x * kTile;
    const int patch_row = threadIdx.y * kPatch;
    const int patch_col = threadIdx.x * kPatch;

    float acc[kPatch][kPatch] = {};
    for (int k0 = 0; k0 < in_features; k0 += kTeams * kTerms) {
        const int begin = k0 + team * kTerms;
        stage_terms<kTile, kTerms, kTeam>(tile_x[team], kPitch, x, first_row, batch, begin,
                                          in_features, member);
        stage_terms<kTile, kTerms, kTeam>(tile_w[team], kPitch, weight, first_col, out_features,
                                          begin, in_features, member);
        __syncthreads();
#pragma unroll
        for (int k = 0; k < kTerms; ++k) {
            float fragment_x[kPatch];
            float fragment_w[kPatch];
#pragma unroll
            for (int i = 0; i < kPatch; ++i) {
                fragment_x[i] = tile_x[team][k * kPitch + patch_row + i];
                fragment_w[i] = tile_w[team][k * kPitch + patch_col + i];
            }
            outer_product(acc, fragment_x, fragment_w);
        }
        __syncthreads();
    }

#pragma unroll
    for (int i = 0; i < kPatch; ++i) {
        if (i / kShare != team) {
            for (int j = 0; j < kPatch; ++j) {
                given[patch_row + i][patch_col + j] = acc[i][j];
            }
        }
    }
    __syncthreads();

#pragma unroll
    for (int i = 0; i < kPatch; ++i) {
        const int row = first_row + patch_row + i;
        if (i / kShare != team || row >= batch) {
            continue;
        }
        for (int j = 0; j < kPatch; ++j) {
            const int col = first_col + patch_col + j;
            if (col < out_features) {
                float value = acc[i][j] + given[patch_row + i][patch_col + j];
                value += bias[col];
                value = swish(value);
                value /= divisor;
                value = clamp_to(value, low, high);
                value = tanhf(value);
                value = clamp_to(value, low, high);
                y[row * out_features + col] = value;
            }
        }
    }
}
