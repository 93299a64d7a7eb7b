// y = leaky(multiplier (x W^T + b)) with the reduction split among blocks: each makes 16 x 16
// partial sums of its share of the terms, and a second kernel adds them and ends the work.

constexpr int kTile = 16;

__global__ void linear_partial(const float* __restrict__ x, const float* __restrict__ weight,
                               float* __restrict__ partial, int batch, int out_features,
                               int in_features, int share) {
    __shared__ float tile_x[kTile][kTile];
    __shared__ float tile_w[kTile][kTile + 1];

    const int col = blockIdx.x * kTile + threadIdx.x;
    const int row = blockIdx.y * kTile + threadIdx.y;
    const int w_row = blockIdx.x * kTile + threadIdx.y;
    const int begin = blockIdx.z * share;
    const int end = min(begin + share, in_features);

    float acc = 0.0f;
    for (int k0 = begin; k0 < end; k0 += kTile) {
        const int k = k0 + threadIdx.x;
        tile_x[threadIdx.y][threadIdx.x] =
            row < batch && k < end ? x[static_cast<long long>(row) * in_features + k] : 0.0f;
        tile_w[threadIdx.y][threadIdx.x] = w_row < out_features && k < end
            ? weight[static_cast<long long>(w_row) * in_features + k] : 0.0f;
        __syncthreads();
        for (int t = 0; t < kTile; ++t) {
            acc += tile_x[threadIdx.y][t] * tile_w[threadIdx.x][t];
        }
        __syncthreads();
    }
    if (row < batch && col < out_features) {
        const long long place = static_cast<long long>(blockIdx.z) * batch + row;
        partial[place * out_features + col] = acc;
    }
}

__global__ void combine_scale_leaky(const float* __restrict__ partial,
                                    const float* __restrict__ bias, float* __restrict__ y,
                                    int elements, int out_features, int splits, float multiplier,
                                    float slope) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= elements) {
        return;
    }
    float total = bias[i % out_features];
    for (int s = 0; s < splits; ++s) {
        total += partial[static_cast<long long>(s) * elements + i];
    }
    total *= multiplier;
    if (total < 0.0f) {
        total *= slope;
    }
    y[i] = total;
}
