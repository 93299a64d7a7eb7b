// Transposed convolution of signals, three taps, stride 1, as a sum of matrix products: for every
// tap, a slab of the weight (output x input channels) times the signals shifted by the tap.
// 128 threads make 8 channels x 64 outputs, each a patch of 2 x 2 in registers.

constexpr int kKernel = 3;
constexpr int kTileM = 8;
constexpr int kTileN = 64;
constexpr int kTileK = 8;
constexpr int kPatchM = 2;
constexpr int kPatchN = 2;
constexpr int kThreads = (kTileM / kPatchM) * (kTileN / kPatchN);

__global__ void conv_transpose1d_blocked_gemm(const float* __restrict__ x,
                                              const float* __restrict__ weight,
                                              float* __restrict__ y, int in_channels, int length,
                                              int out_channels, int out_length) {
    __shared__ float tile_w[kKernel][kTileK][kTileM];
    __shared__ float tile_x[kTileK][kTileN + kKernel - 1];

    const int tid = threadIdx.x;
    const int thread_row = tid / (kTileN / kPatchN) * kPatchM;
    const int thread_col = tid % (kTileN / kPatchN);
    const int first_channel = blockIdx.y * kTileM;
    const int first = blockIdx.x * kTileN;
    const size_t image = blockIdx.z;

    float acc[kPatchM][kPatchN] = {};
    for (int c0 = 0; c0 < in_channels; c0 += kTileK) {
        for (int i = tid; i < kTileK * kTileM * kKernel; i += kThreads) {
            const int k = i % kKernel;
            const int m = i / kKernel % kTileM;
            const int c = i / kKernel / kTileM;
            const bool inside = c0 + c < in_channels && first_channel + m < out_channels;
            tile_w[k][c][m] =
                inside ? weight[((c0 + c) * out_channels + first_channel + m) * kKernel + k] : 0.0f;
        }
        for (int i = tid; i < kTileK * (kTileN + kKernel - 1); i += kThreads) {
            const int c = i / (kTileN + kKernel - 1);
            const int n = i % (kTileN + kKernel - 1);
            const int at = first + n - (kKernel - 1);
            const bool inside = c0 + c < in_channels && at >= 0 && at < length;
            tile_x[c][n] = inside ? x[(image * in_channels + c0 + c) * length + at] : 0.0f;
        }
        __syncthreads();

        for (int k = 0; k < kKernel; ++k) {
            for (int c = 0; c < kTileK; ++c) {
                float a[kPatchM];
                float b[kPatchN];
#pragma unroll
                for (int i = 0; i < kPatchM; ++i) {
                    a[i] = tile_w[k][c][thread_row + i];
                }
                // Outputs of a thread lie kTileN / kPatchN apart, so that a warp's reads do too.
#pragma unroll
                for (int j = 0; j < kPatchN; ++j) {
                    b[j] = tile_x[c][thread_col + j * (kTileN / kPatchN) + kKernel - 1 - k];
                }
#pragma unroll
                for (int i = 0; i < kPatchM; ++i) {
#pragma unroll
                    for (int j = 0; j < kPatchN; ++j) {
                        acc[i][j] = fmaf(a[i], b[j], acc[i][j]);
                    }
                }
            }
        }
        __syncthreads();
    }

    for (int i = 0; i < kPatchM; ++i) {
        const int channel = first_channel + thread_row + i;
        for (int j = 0; j < kPatchN; ++j) {
            const int at = first + thread_col + j * (kTileN / kPatchN);
            if (channel < out_channels && at < out_length) {
                y[(image * out_channels + channel) * out_length + at] = acc[i][j];
            }
        }
    }
}
