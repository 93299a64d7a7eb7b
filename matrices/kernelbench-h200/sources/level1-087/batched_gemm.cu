// Pointwise convolution as one matrix product an image: output channels x input channels times
// input channels x pixels. A block of 16 x 8 threads makes 24 channels x 48 pixels, each thread
// 3 x 3; both tiles are staged with the reduction outermost.

constexpr int kThreadsX = 16;
constexpr int kThreadsY = 8;
constexpr int kOwnM = 3;
constexpr int kOwnN = 3;
constexpr int kTileM = kOwnM * kThreadsY;
constexpr int kTileN = kOwnN * kThreadsX;
constexpr int kTileK = 8;
constexpr int kThreads = kThreadsX * kThreadsY;

__global__ void pointwise_gemm(const float* __restrict__ x, const float* __restrict__ weight,
                               float* __restrict__ y, int in_channels, int out_channels,
                               int pixels) {
    __shared__ float left[kTileK][kTileM];
    __shared__ float right[kTileK][kTileN];

    const int tx = threadIdx.x;
    const int ty = threadIdx.y;
    const int tid = ty * kThreadsX + tx;
    const int m0 = blockIdx.y * kTileM;
    const int n0 = blockIdx.x * kTileN;
    const long long image = blockIdx.z;
    const float* from = x + image * in_channels * pixels;
    float* to = y + image * out_channels * pixels;

    float acc[kOwnM][kOwnN] = {};
    for (int k0 = 0; k0 < in_channels; k0 += kTileK) {
#pragma unroll
        for (int i = tid; i < kTileM * kTileK; i += kThreads) {
            const int m = i / kTileK;
            const int k = i % kTileK;
            left[k][m] = m0 + m < out_channels && k0 + k < in_channels
                             ? weight[(m0 + m) * in_channels + k0 + k]
                             : 0.0f;
        }
#pragma unroll
        for (int i = tid; i < kTileK * kTileN; i += kThreads) {
            const int k = i / kTileN;
            const int n = i % kTileN;
            right[k][n] = k0 + k < in_channels && n0 + n < pixels
                              ? from[static_cast<long long>(k0 + k) * pixels + n0 + n]
                              : 0.0f;
        }
        __syncthreads();
        for (int k = 0; k < kTileK; ++k) {
            float b[kOwnN];
            for (int j = 0; j < kOwnN; ++j) {
                b[j] = right[k][tx + kThreadsX * j];
            }
            for (int i = 0; i < kOwnM; ++i) {
                const float a = left[k][ty + kThreadsY * i];
                for (int j = 0; j < kOwnN; ++j) {
                    acc[i][j] += a * b[j];
                }
            }
        }
        __syncthreads();
    }

    for (int i = 0; i < kOwnM; ++i) {
        const int m = m0 + ty + kThreadsY * i;
        for (int j = 0; j < kOwnN; ++j) {
            const int n = n0 + tx + kThreadsX * j;
            if (m < out_channels && n < pixels) {
                to[static_cast<long long>(m) * pixels + n] = acc[i][j];
            }
        }
    }
}
