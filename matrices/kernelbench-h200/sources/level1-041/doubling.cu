// 1D max-pooling of 8 taps, 3 apart, stride 1, padding 4: a block stages 128 outputs' inputs with
// their halo, then maxima over 2, 4 and 8 taps come from two of half as many, one buffer to the
// other. Lines run along the grid's x, the only axis that takes more than 65535 of them.

#include "limits.cuh"
#include "pool_nan.cuh"

constexpr int kKernel = 8;
constexpr int kPadding = 4;
constexpr int kDilation = 3;
constexpr int kTile = 128;
constexpr int kStaged = kTile + (kKernel - 1) * kDilation;

__global__ void maxpool1d_doubling(const float* __restrict__ x, float* __restrict__ y, int length,
                                   int out_length) {
    __shared__ float buffer[2][kStaged];

    const int tid = threadIdx.x;
    const int first = blockIdx.y * kTile - kPadding;
    const long long line = blockIdx.x;
    const float* in = x + line * length;

    for (int i = tid; i < kStaged; i += kTile) {
        const int position = first + i;
        const bool inside = position >= 0 && position < length;
        buffer[0][i] = inside ? in[position] : -INFINITY;
    }
    __syncthreads();

    int current = 0;
    int filled = kStaged;
    for (int taps = 1; taps < kKernel; taps *= 2) {
        const int distance = taps * kDilation;
        filled -= distance;
        for (int i = tid; i < filled; i += kTile) {
            buffer[1 - current][i] = nan_max(buffer[current][i], buffer[current][i + distance]);
        }
        current = 1 - current;
        __syncthreads();
    }

    const int out = blockIdx.y * kTile + tid;
    if (out < out_length) {
        y[line * out_length + out] = buffer[current][tid];
    }
}
