// Linear layer, BatchNorm over the batch, a bias, a division, swish. The product is stored feature
// by feature, W x^T instead of x W^T, so that what a feature's moments are taken over lies together
// and a warp reads it in a row. The last kernel turns squares of it round in shared memory.

#include "warp_reduce.cuh"
#include "fused_activations.cuh"
#include "gemm_fragment.cuh"
#include "gemm_load.cuh"
#include "gemm_nt_stage.cuh"

constexpr int kFeatures = 32;
constexpr int kSamples = 32;
constexpr int kTerms = 16;
constexpr int kPatch = 4;
constexpr int kAcross = kSamples / kPatch;
constexpr int kThreads = kAcross * (kFeatures / kPatch);
constexpr int kPitchW = kFeatures + 4;
constexpr int kPitchX = kSamples + 4;
constexpr int kMomentWarps = 4;
constexpr int kSquare = 32;

__device__ __forceinline__ void unpack(float (&fragment)[kPatch], const float* quad) {
    const float4 values = *reinterpret_cast<const float4*>(quad);
    fragment[0] = values.x;
    fragment[1] = values.y;
    fragment[2] = values.z;
    fragment[3] = values.w;
}

__global__ void __launch_bounds__(kThreads)
matmul_transposed(const float* __restrict__ x, const float* __restrict__ weight,
                  const float* __restrict__ bias, float* __restrict__ hidden, int batch,
                  int out_features, int in_features) {
    __shared__ __align__(16) float tile_w[kTerms * kPitchW];
    __shared__ __align__(16) float tile_x[kTerms * kPitchX];

    const int tid = threadIdx.y * kAcross + threadIdx.x;
    const int first_feature = blockIdx.y * kFeatures;
    const int first_sample = blockIdx.x * kSamples;

    float acc[kPatch][kPatch] = {};
    for (int k0 = 0; k0 < in_features; k0 += kTerms) {
        stage_terms<kFeatures, kTerms, kThreads>(tile_w, kPitchW, weight, first_feature,
                                                 out_features, k0, in_features, tid);
        stage_terms<kSamples, kTerms, kThreads>(tile_x, kPitchX, x, first_sample, batch, k0,
                                                in_features, tid);
        __syncthreads();
#pragma unroll
        for (int k = 0; k < kTerms; ++k) {
            float fragment_w[kPatch];
            float fragment_x[kPatch];
            unpack(fragment_w, &tile_w[k * kPitchW + threadIdx.y * kPatch]);
            unpack(fragment_x, &tile_x[k * kPitchX + threadIdx.x * kPatch]);
            outer_product(acc, fragment_w, fragment_x);
        }
        __syncthreads();
    }

#pragma unroll
    for (int i = 0; i < kPatch; ++i) {
        const int feature = first_feature + threadIdx.y * kPatch + i;
        if (feature >= out_features) {
            break;
        }
        const float added = bias[feature];
        const float4 quad = make_float4(acc[i][0] + added, acc[i][1] + added, acc[i][2] + added,
                                        acc[i][3] + added);
        store_quad(hidden + static_cast<long long>(feature) * batch,
                   first_sample + threadIdx.x * kPatch, batch, quad);
    }
}

// A warp a feature, four samples a load.
__global__ void __launch_bounds__(32 * kMomentWarps)
feature_moments(const float* __restrict__ hidden, float* __restrict__ means,
                float* __restrict__ inverses, int batch, int out_features, float eps) {
    const int feature = blockIdx.x * kMomentWarps + threadIdx.y;
    if (feature >= out_features) {
        return;
    }
    const float* samples = hidden + static_cast<long long>(feature) * batch;
    float sum = 0.0f;
    for (int i = 4 * threadIdx.x; i < batch; i += 4 * 32) {
        const float4 quad = load_quad(samples, i, batch);
        sum += (quad.x + quad.y) + (quad.z + quad.w);
    }
    const float mean = warp_sum(sum) / batch;

    float squares = 0.0f;
    for (int i = 4 * threadIdx.x; i < batch; i += 4 * 32) {
        const float4 quad = load_quad(samples, i, batch);
        const float parts[4] = {quad.x, quad.y, quad.z, quad.w};
        for (int p = 0; p < 4 && i + p < batch; ++p) {
            const float deviation = parts[p] - mean;
            squares += deviation * deviation;
        }
    }
    const float variance = warp_sum(squares) / batch;
    if (threadIdx.x == 0) {
        means[feature] = mean;
        inverses[feature] = rsqrtf(variance + eps);
    }
}

__global__ void batchnorm_bias_divide_swish(const float* __restrict__ hidden,
                                            const float* __restrict__ means,
                                            const float* __restrict__ inverses,
                                            const float* __restrict__ norm_weight,
                                            const float* __restrict__ norm_bias,
                                            const float* __restrict__ added_bias,
                                            float* __restrict__ y, int batch, int out_features,
                                            float divisor) {
    __shared__ float square[kSquare][kSquare + 1];

    const int first_sample = blockIdx.x * kSquare;
    const int first_feature = blockIdx.y * kSquare;

    const int sample = first_sample + threadIdx.x;
    for (int i = threadIdx.y; i < kSquare; i += blockDim.y) {
        const int feature = first_feature + i;
        if (feature < out_features && sample < batch) {
            float value = hidden[static_cast<long long>(feature) * batch + sample];
            value = (value - means[feature]) * inverses[feature];
            value = value * norm_weight[feature] + norm_bias[feature];
            value += added_bias[0];
            value /= divisor;
            value = swish(value);
            square[i][threadIdx.x] = value;
        }
    }
    __syncthreads();

    const int feature = first_feature + threadIdx.x;
    for (int i = threadIdx.y; i < kSquare; i += blockDim.y) {
        if (first_sample + i < batch && feature < out_features) {
            y[static_cast<long long>(first_sample + i) * out_features + feature] =
                square[threadIdx.x][i];
        }
    }
}
