// The four stages as a framework runs them, each over y in place: the linear layer in tiles, swish,
// a bias, and GroupNorm with a thread block for a row and a warp for a group.

#include "fused_activations.cuh"
#include "welford.cuh"

constexpr int kTile = 16;

__global__ void linear_forward(const float* __restrict__ x, const float* __restrict__ weight,
                               const float* __restrict__ bias, float* __restrict__ y, int batch,
                               int out_features, int in_features) {
    __shared__ float tile_x[kTile][kTile];
    __shared__ float tile_w[kTile][kTile + 1];

    const int row = blockIdx.y * kTile + threadIdx.y;
    const int col = blockIdx.x * kTile + threadIdx.x;
    const int source = blockIdx.x * kTile + threadIdx.y;

    float acc = 0.0f;
    for (int k0 = 0; k0 < in_features; k0 += kTile) {
        const int k = k0 + threadIdx.x;
        tile_x[threadIdx.y][threadIdx.x] =
            row < batch && k < in_features ? x[row * in_features + k] : 0.0f;
        tile_w[threadIdx.y][threadIdx.x] =
            source < out_features && k < in_features ? weight[source * in_features + k] : 0.0f;
        __syncthreads();
        for (int t = 0; t < kTile; ++t) {
            acc += tile_x[threadIdx.y][t] * tile_w[threadIdx.x][t];
        }
        __syncthreads();
    }
    if (row < batch && col < out_features) {
        y[row * out_features + col] = acc + bias[col];
    }
}

__global__ void swish_forward(float* __restrict__ y, int elements) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < elements) {
        y[i] = swish(y[i]);
    }
}

__global__ void add_bias(float* __restrict__ y, const float* __restrict__ added, int elements,
                         int out_features) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < elements) {
        y[i] += added[i % out_features];
    }
}

__global__ void group_norm(float* __restrict__ y, const float* __restrict__ norm_weight,
                           const float* __restrict__ norm_bias, int groups, int width, float eps) {
    const int lane = threadIdx.x % 32;
    const int warps = blockDim.x / 32;
    for (int group = threadIdx.x / 32; group < groups; group += warps) {
        const int first = group * width;
        float* values = y + static_cast<long long>(blockIdx.x) * groups * width + first;
        Moments own = {0.0f, 0.0f, 0.0f};
        for (int i = lane; i < width; i += 32) {
            welford_push(own, values[i]);
        }
        const Moments whole = welford_warp(own);
        const float mean = __shfl_sync(0xffffffffu, whole.mean, 0);
        const float variance = __shfl_sync(0xffffffffu, whole.m2, 0) / width;
        const float inverse = 1.0f / sqrtf(variance + eps);
        for (int i = lane; i < width; i += 32) {
            const float value = (values[i] - mean) * inverse;
            values[i] = value * norm_weight[first + i] + norm_bias[first + i];
        }
    }
}
