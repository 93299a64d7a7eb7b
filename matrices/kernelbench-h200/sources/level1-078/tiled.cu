// 3 x 7 transposed convolution, stride 1, padding 1 x 3: outputs have the inputs' shape. A block
// makes 4 rows of 32 outputs for two output channels from a patch with a margin on all sides; the
// next patch is staged into a second buffer while the present one is used.

constexpr int kKernelH = 3;
constexpr int kKernelW = 7;
constexpr int kPadH = 1;
constexpr int kPadW = 3;
constexpr int kTaps = kKernelH * kKernelW;
constexpr int kRows = 4;
constexpr int kCols = 32;
constexpr int kPatchH = kRows + kKernelH - 1;
constexpr int kPatchW = kCols + kKernelW - 1;
constexpr int kThreads = kRows * kCols;

__device__ __forceinline__ void stage_patch(float (&patch)[kPatchH][kPatchW],
                                            const float* __restrict__ plane, int first_row,
                                            int first_col, int height, int width) {
    for (int i = threadIdx.y * kCols + threadIdx.x; i < kPatchH * kPatchW; i += kThreads) {
        const int row = first_row + i / kPatchW;
        const int col = first_col + i % kPatchW;
        const bool inside = row >= 0 && row < height && col >= 0 && col < width;
        patch[i / kPatchW][i % kPatchW] = inside ? plane[row * width + col] : 0.0f;
    }
}

__global__ void __launch_bounds__(kThreads)
conv_transpose2d_padded_tiled(const float* __restrict__ x, const float* __restrict__ weight,
                              float* __restrict__ y, int in_channels, int height, int width,
                              int out_channels) {
    __shared__ float patches[2][kPatchH][kPatchW];

    const int pairs = (out_channels + 1) / 2;
    const int channel = blockIdx.z % pairs * 2;
    const int image = blockIdx.z / pairs;
    const bool both = channel + 1 < out_channels;
    const int row = blockIdx.y * kRows + threadIdx.y;
    const int col = blockIdx.x * kCols + threadIdx.x;
    // Output o sees inputs o + padding - tap.
    const int first_row = blockIdx.y * kRows + kPadH - (kKernelH - 1);
    const int first_col = blockIdx.x * kCols + kPadW - (kKernelW - 1);
    const int plane = height * width;
    const float* planes = x + static_cast<long long>(image) * in_channels * plane;

    float acc[2] = {0.0f, 0.0f};
    stage_patch(patches[0], planes, first_row, first_col, height, width);
    __syncthreads();
    for (int c = 0; c < in_channels; ++c) {
        if (c + 1 < in_channels) {
            stage_patch(patches[(c + 1) % 2], planes + static_cast<long long>(c + 1) * plane,
                        first_row, first_col, height, width);
        }
        const float* taps = weight + (c * out_channels + channel) * kTaps;
#pragma unroll
        for (int i = 0; i < kKernelH; ++i) {
#pragma unroll
            for (int j = 0; j < kKernelW; ++j) {
                const float value = patches[c % 2][threadIdx.y + kKernelH - 1 - i]
                                           [threadIdx.x + kKernelW - 1 - j];
                acc[0] += value * taps[i * kKernelW + j];
                if (both) {
                    acc[1] += value * taps[kTaps + i * kKernelW + j];
                }
            }
        }
        __syncthreads();
    }

    if (row < height && col < width) {
        float* out = y + (static_cast<long long>(image) * out_channels + channel) * plane;
        out[row * width + col] = acc[0];
        if (both) {
            out[plane + row * width + col] = acc[1];
        }
    }
}
