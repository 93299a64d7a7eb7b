// y = relu(x W^T + b) by blocks that stay: there are fewer of them than tiles of 32 x 32, and each
// goes on to the tile that lies a grid further. A lane owns a column, a warp eight rows, whose
// terms come from shared memory four at a time, the same for all lanes.

#include "fused_activations.cuh"
#include "gemm_load.cuh"

constexpr int kTile = 32;
constexpr int kTerms = 32;
constexpr int kWarps = 4;
constexpr int kOwnRows = kTile / kWarps;
constexpr int kThreads = 32 * kWarps;
constexpr int kQuads = kTerms / 4;

__global__ void __launch_bounds__(kThreads)
gemm_add_relu(const float* __restrict__ x, const float* __restrict__ weight,
              const float* __restrict__ bias, float* __restrict__ y, int batch, int out_features,
              int in_features, int tiles) {
    __shared__ float4 tile_x[kTile][kQuads];
    __shared__ float tile_w[kTerms][kTile + 1];

    const int lane = threadIdx.x % 32;
    const int warp = threadIdx.x / 32;
    const int tiles_down = (batch + kTile - 1) / kTile;

    for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
        const int first_row = tile % tiles_down * kTile;
        const int first_col = tile / tiles_down * kTile;
        float acc[kOwnRows] = {};
        for (int k0 = 0; k0 < in_features; k0 += kTerms) {
            for (int i = threadIdx.x; i < kTile * kQuads; i += kThreads) {
                const int row = first_row + i / kQuads;
                const int k = k0 + i % kQuads * 4;
                tile_x[i / kQuads][i % kQuads] = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
                if (row < batch) {
                    tile_x[i / kQuads][i % kQuads] =
                        load_quad(x + static_cast<long long>(row) * in_features, k, in_features);
                }
            }
            for (int n = warp; n < kTile; n += kWarps) {
                const int col = first_col + n;
                const int k = k0 + lane;
                tile_w[lane][n] = col < out_features && k < in_features
                    ? weight[static_cast<long long>(col) * in_features + k] : 0.0f;
            }
            __syncthreads();

#pragma unroll 2
            for (int q = 0; q < kQuads; ++q) {
                const float w0 = tile_w[4 * q][lane];
                const float w1 = tile_w[4 * q + 1][lane];
                const float w2 = tile_w[4 * q + 2][lane];
                const float w3 = tile_w[4 * q + 3][lane];
#pragma unroll
                for (int i = 0; i < kOwnRows; ++i) {
                    const float4 terms = tile_x[warp * kOwnRows + i][q];
                    acc[i] += terms.x * w0;
                    acc[i] += terms.y * w1;
                    acc[i] += terms.z * w2;
                    acc[i] += terms.w * w3;
                }
            }
            __syncthreads();
        }

        const int col = first_col + lane;
        if (col < out_features) {
            for (int i = 0; i < kOwnRows; ++i) {
                const int row = first_row + warp * kOwnRows + i;
                if (row < batch) {
                    float value = acc[i];
                    value += bias[col];
                    value = relu(value);
                    y[static_cast<long long>(row) * out_features + col] = value;
                }
            }
        }
    }
}
