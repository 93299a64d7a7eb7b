// Two linear layers with a sigmoid between them, then log-sum-exp of the rows. Both layers are one
// device function with another epilogue: 128 threads make 16 x 64 outputs, each two rows of a quad.
// The log-sum-exp goes over a row once, the sum rescaled whenever the maximum moves.

#include "fused_activations.cuh"
#include "gemm_load.cuh"
#include "limits.cuh"
#include "softmax_running.cuh"

constexpr int kRows = 16;
constexpr int kCols = 64;
constexpr int kTerms = 16;
constexpr int kOwnRows = 2;
constexpr int kThreads = 128;
constexpr int kAcross = kCols / 4;

struct Identity {
    __device__ __forceinline__ float operator()(float value) const { return value; }
};

struct Sigmoid {
    __device__ __forceinline__ float operator()(float value) const { return logistic(value); }
};

template <class Activation>
__device__ __forceinline__ void linear_tile(const float* __restrict__ input,
                                            const float* __restrict__ weight,
                                            const float* __restrict__ bias,
                                            float* __restrict__ output, int rows, int features,
                                            int terms, float (&tile_a)[kTerms][kRows],
                                            float (&tile_b)[kTerms][kCols], Activation activation) {
    const int tid = threadIdx.x;
    const int across = tid % kAcross * 4;
    const int down = tid / kAcross * kOwnRows;
    const int first_row = blockIdx.y * kRows;
    const int first_col = blockIdx.x * kCols;

    float4 acc[kOwnRows];
    for (int i = 0; i < kOwnRows; ++i) {
        acc[i] = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    }
    for (int k0 = 0; k0 < terms; k0 += kTerms) {
        for (int i = tid; i < kRows * kTerms; i += kThreads) {
            const int row = first_row + i / kTerms;
            const int k = k0 + i % kTerms;
            tile_a[i % kTerms][i / kTerms] =
                row < rows && k < terms ? input[row * terms + k] : 0.0f;
        }
        for (int i = tid; i < kCols * kTerms; i += kThreads) {
            const int col = first_col + i / kTerms;
            const int k = k0 + i % kTerms;
            tile_b[i % kTerms][i / kTerms] =
                col < features && k < terms ? weight[col * terms + k] : 0.0f;
        }
        __syncthreads();
        for (int k = 0; k < kTerms; ++k) {
            const float4 factors = *reinterpret_cast<const float4*>(&tile_b[k][across]);
#pragma unroll
            for (int i = 0; i < kOwnRows; ++i) {
                const float value = tile_a[k][down + i];
                acc[i].x += value * factors.x;
                acc[i].y += value * factors.y;
                acc[i].z += value * factors.z;
                acc[i].w += value * factors.w;
            }
        }
        __syncthreads();
    }

    const float4 added = load_quad(bias, first_col + across, features);
    for (int i = 0; i < kOwnRows; ++i) {
        const int row = first_row + down + i;
        if (row < rows) {
            float4 quad;
            quad.x = activation(acc[i].x + added.x);
            quad.y = activation(acc[i].y + added.y);
            quad.z = activation(acc[i].z + added.z);
            quad.w = activation(acc[i].w + added.w);
            store_quad(output + static_cast<long long>(row) * features, first_col + across,
                       features, quad);
        }
    }
}

__global__ void __launch_bounds__(kThreads)
linear_sigmoid(const float* __restrict__ x, const float* __restrict__ weight,
               const float* __restrict__ bias, float* __restrict__ hidden, int rows, int features,
               int terms) {
    __shared__ float tile_a[kTerms][kRows];
    __shared__ __align__(16) float tile_b[kTerms][kCols];
    linear_tile(x, weight, bias, hidden, rows, features, terms, tile_a, tile_b, Sigmoid());
}

__global__ void __launch_bounds__(kThreads)
linear_plain(const float* __restrict__ hidden, const float* __restrict__ weight,
             const float* __restrict__ bias, float* __restrict__ logits, int rows, int features,
             int terms) {
    __shared__ float tile_a[kTerms][kRows];
    __shared__ __align__(16) float tile_b[kTerms][kCols];
    linear_tile(hidden, weight, bias, logits, rows, features, terms, tile_a, tile_b, Identity());
}

__global__ void logsumexp_rows(const float* __restrict__ logits, float* __restrict__ y, int rows,
                               int width) {
    const int lane = threadIdx.x;
    const int row = blockIdx.x * blockDim.y + threadIdx.y;
    if (row >= rows) {
        return;
    }
    const float* values = logits + static_cast<long long>(row) * width;
    Running running = running_none();
    for (int i = lane; i < width; i += 32) {
        running_push(running, values[i]);
    }
    running = running_warp(running);
    if (lane == 0) {
        y[row] = running.top + logf(running.sum);
    }
}
