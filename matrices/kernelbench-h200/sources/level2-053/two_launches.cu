// The linear layer in 16 x 16 tiles, one output a thread, then scale, hardtanh and GELU as a kernel
// that runs over the elements of y in place.

#include "fused_activations.cuh"

constexpr int kTile = 16;

__global__ void linear_tile(const float* __restrict__ x, const float* __restrict__ weight,
                            const float* __restrict__ bias, float* __restrict__ y, int batch,
                            int out_features, int in_features) {
    __shared__ float tile_x[kTile][kTile];
    __shared__ float tile_w[kTile][kTile + 1];

    const int tx = threadIdx.x;
    const int ty = threadIdx.y;
    const int row = blockIdx.y * kTile + ty;
    const int col = blockIdx.x * kTile + tx;
    const int w_row = blockIdx.x * kTile + ty;

    float acc = 0.0f;
    for (int k0 = 0; k0 < in_features; k0 += kTile) {
        const int k = k0 + tx;
        tile_x[ty][tx] = 0.0f;
        tile_w[ty][tx] = 0.0f;
        if (k < in_features) {
            if (row < batch) {
                tile_x[ty][tx] = x[row * in_features + k];
            }
            if (w_row < out_features) {
                tile_w[ty][tx] = weight[w_row * in_features + k];
            }
        }
        __syncthreads();
        for (int t = 0; t < kTile; ++t) {
            acc += tile_x[ty][t] * tile_w[tx][t];
        }
        __syncthreads();
    }
    if (row < batch && col < out_features) {
        y[row * out_features + col] = acc + bias[col];
    }
}

__global__ void scale_hardtanh_gelu(float* __restrict__ y, int elements, float scale, float low,
                                    float high) {
    const int step = gridDim.x * blockDim.x;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < elements; i += step) {
        const float scaled = y[i] * scale;
        const float bounded = clamp_to(scaled, low, high);
        y[i] = gelu_erf(bounded);
    }
}
