// 3 x 5 transposed convolution, stride 1, as an implicit matrix product: output channels x output
// pixels of one image, reduced over input channels and taps. Tiles of 8 x 32 outputs, two channels
// a thread. The next slices are fetched into registers while the present ones are multiplied, and
// stored to the other of two buffers: one barrier a step.

constexpr int kKernelH = 3;
constexpr int kKernelW = 5;
constexpr int kTaps = kKernelH * kKernelW;
constexpr int kTileM = 8;
constexpr int kTileN = 32;
constexpr int kTileK = 16;
constexpr int kThreads = 128;
constexpr int kLoadsX = kTileK * kTileN / kThreads;

__global__ void conv_transpose2d_double_buffered(const float* __restrict__ x,
                                                 const float* __restrict__ weight,
                                                 float* __restrict__ y, int in_channels, int height,
                                                 int width, int out_channels, int out_height,
                                                 int out_width) {
    __shared__ float tile_w[2][kTileK][kTileM];
    __shared__ float tile_x[2][kTileK][kTileN];

    const int tid = threadIdx.x;
    const int lane = tid % kTileN;
    const int warp = tid / kTileN;
    const int pixels = out_height * out_width;
    const int reduction = in_channels * kTaps;
    const float* image = x + static_cast<long long>(blockIdx.z) * in_channels * height * width;

    const int load_channel = blockIdx.y * kTileM + tid / kTileK;
    const int load_k = tid % kTileK;
    const int pixel = blockIdx.x * kTileN + lane;
    const int out_row = pixel / out_width;
    const int out_col = pixel % out_width;

    float next_w = 0.0f;
    float next_x[kLoadsX];
    auto fetch = [&](int k0) {
        const int k = k0 + load_k;
        next_w = k < reduction && load_channel < out_channels
                     ? weight[(k / kTaps * out_channels + load_channel) * kTaps + k % kTaps]
                     : 0.0f;
        for (int i = 0; i < kLoadsX; ++i) {
            const int kx = k0 + warp + i * (kThreads / kTileN);
            const int row = out_row - kx % kTaps / kKernelW;
            const int col = out_col - kx % kTaps % kKernelW;
            const bool inside = kx < reduction && pixel < pixels && row >= 0 &&
                                row < height && col >= 0 && col < width;
            next_x[i] = inside ? image[(kx / kTaps * height + row) * width + col] : 0.0f;
        }
    };
    auto store = [&](int buffer) {
        tile_w[buffer][load_k][tid / kTileK] = next_w;
        for (int i = 0; i < kLoadsX; ++i) {
            tile_x[buffer][warp + i * (kThreads / kTileN)][lane] = next_x[i];
        }
    };

    float acc[2] = {};
    int buffer = 0;
    fetch(0);
    store(buffer);
    __syncthreads();
    for (int k0 = 0; k0 < reduction; k0 += kTileK) {
        const bool more = k0 + kTileK < reduction;
        if (more) {
            fetch(k0 + kTileK);
        }
#pragma unroll
        for (int k = 0; k < kTileK; ++k) {
            const float value = tile_x[buffer][k][lane];
            acc[0] += tile_w[buffer][k][warp * 2] * value;
            acc[1] += tile_w[buffer][k][warp * 2 + 1] * value;
        }
        if (more) {
            store(buffer ^ 1);
        }
        __syncthreads();
        buffer ^= 1;
    }

    for (int i = 0; i < 2; ++i) {
        const int channel = blockIdx.y * kTileM + warp * 2 + i;
        if (channel < out_channels && pixel < pixels) {
            y[(static_cast<long long>(blockIdx.z) * out_channels + channel) * pixels + pixel] =
                acc[i];
        }
    }
}
