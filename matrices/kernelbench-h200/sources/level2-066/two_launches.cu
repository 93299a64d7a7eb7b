// Linear layer with dropout as its epilogue, then softmax, one block a row: largest logit and sum
// of exponentials by shuffles within warps and shared memory across them.

#include "fused_dropout.cuh"
#include "limits.cuh"
#include "warp_reduce.cuh"

constexpr int kTileM = 4;
constexpr int kTileN = 16;
constexpr int kTileK = 16;
constexpr int kWarps = 4;

__global__ void linear_dropout(const float* __restrict__ x, const float* __restrict__ weight,
                               const float* __restrict__ bias, float* __restrict__ logits,
                               int batch, int out_features, int in_features, float probability,
                               int seed) {
    __shared__ float rows[kTileM][kTileK];
    __shared__ float cols[kTileN][kTileK + 1];

    const int row = blockIdx.y * kTileM + threadIdx.y;
    const int col = blockIdx.x * kTileN + threadIdx.x;
    float acc = 0.0f;
    for (int k0 = 0; k0 < in_features; k0 += kTileK) {
        const int k = k0 + threadIdx.x;
        rows[threadIdx.y][threadIdx.x] = row < batch && k < in_features
            ? x[static_cast<long long>(row) * in_features + k] : 0.0f;
        for (int n = threadIdx.y; n < kTileN; n += kTileM) {
            const int feature = blockIdx.x * kTileN + n;
            const bool inside = feature < out_features && k < in_features;
            cols[n][threadIdx.x] =
                inside ? weight[static_cast<long long>(feature) * in_features + k] : 0.0f;
        }
        __syncthreads();
#pragma unroll
        for (int t = 0; t < kTileK; ++t) {
            acc += rows[threadIdx.y][t] * cols[threadIdx.x][t];
        }
        __syncthreads();
    }
    if (row < batch && col < out_features) {
        const int place = row * out_features + col;
        float value = acc + bias[col];
        value = dropout_keeps(place, seed, probability) ? value / (1.0f - probability) : 0.0f;
        logits[place] = value;
    }
}

__global__ void softmax_rows(const float* __restrict__ logits, float* __restrict__ y,
                             int out_features) {
    __shared__ float tops[kWarps];
    __shared__ float totals[kWarps];

    const int lane = threadIdx.x % 32;
    const int warp = threadIdx.x / 32;
    const long long first = static_cast<long long>(blockIdx.x) * out_features;

    float top = -INFINITY;
    for (int i = threadIdx.x; i < out_features; i += blockDim.x) {
        top = fmaxf(top, logits[first + i]);
    }
    top = warp_max(top);
    if (lane == 0) {
        tops[warp] = top;
    }
    __syncthreads();
    for (int w = 0; w < kWarps; ++w) {
        top = fmaxf(top, tops[w]);
    }

    float total = 0.0f;
    for (int i = threadIdx.x; i < out_features; i += blockDim.x) {
        total += expf(logits[first + i] - top);
    }
    total = warp_sum(total);
    if (lane == 0) {
        totals[warp] = total;
    }
    __syncthreads();
    total = 0.0f;
    for (int w = 0; w < kWarps; ++w) {
        total += totals[w];
    }

    for (int i = threadIdx.x; i < out_features; i += blockDim.x) {
        y[first + i] = expf(logits[first + i] - top) / total;
    }
}
