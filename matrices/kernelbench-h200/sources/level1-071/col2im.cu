// 3 x 3 transposed convolution by columns, the whole batch at once: a matrix product makes what
// every input pixel sends through every tap (4 output channels x 32 pixels a block; a thread has
// all nine taps of a channel), and a second kernel folds a patch of outputs from them.

constexpr int kTaps = 9;
constexpr int kChannels = 4;
constexpr int kRows = kChannels * kTaps;
constexpr int kPixels = 32;
constexpr int kDepth = 8;
constexpr int kThreads = kChannels * kPixels;

__global__ void make_columns(const float* __restrict__ x, const float* __restrict__ weight,
                             float* __restrict__ columns, int in_channels, int rows, int pixels) {
    __shared__ float tile_w[kDepth][kRows];
    __shared__ float tile_x[kDepth][kPixels];

    const int tid = threadIdx.x;
    const int lane = tid % kPixels;
    const int own = tid / kPixels * kTaps;
    const int m0 = blockIdx.y * kRows;
    const int n = blockIdx.x * kPixels + lane;
    const float* image = x + static_cast<long long>(blockIdx.z) * in_channels * pixels;

    float acc[kTaps] = {};
    for (int k0 = 0; k0 < in_channels; k0 += kDepth) {
        for (int i = tid; i < kDepth * kRows; i += kThreads) {
            const int k = i / kRows;
            const int m = i % kRows;
            const bool inside = k0 + k < in_channels && m0 + m < rows;
            tile_w[k][m] = inside ? weight[(k0 + k) * rows + m0 + m] : 0.0f;
        }
        for (int k = tid / kPixels; k < kDepth; k += kThreads / kPixels) {
            const bool inside = k0 + k < in_channels && n < pixels;
            tile_x[k][lane] = inside ? image[static_cast<long long>(k0 + k) * pixels + n] : 0.0f;
        }
        __syncthreads();
        for (int k = 0; k < kDepth; ++k) {
            const float value = tile_x[k][lane];
#pragma unroll
            for (int t = 0; t < kTaps; ++t) {
                acc[t] += tile_w[k][own + t] * value;
            }
        }
        __syncthreads();
    }

    // Rows are whole channels: where the first tap is inside, so are the others.
    if (m0 + own < rows && n < pixels) {
        float* out = columns + (static_cast<long long>(blockIdx.z) * rows + m0 + own) * pixels + n;
        for (int t = 0; t < kTaps; ++t) {
            out[static_cast<long long>(t) * pixels] = acc[t];
        }
    }
}

__global__ void fold_columns(const float* __restrict__ columns, float* __restrict__ y, int height,
                             int width, int out_height, int out_width, int kernel) {
    const int col = blockIdx.x * blockDim.x + threadIdx.x;
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (col >= out_width || row >= out_height) {
        return;
    }
    // Taps whose inputs lie inside; blockIdx.z runs over images and channels alike.
    const int top = max(0, row - height + 1);
    const int bottom = min(kernel, row + 1);
    const int first = max(0, col - width + 1);
    const int last = min(kernel, col + 1);
    const float* own =
        columns + static_cast<long long>(blockIdx.z) * kernel * kernel * height * width;
    float sum = 0.0f;
    for (int i = top; i < bottom; ++i) {
        for (int j = first; j < last; ++j) {
            const long long tap = i * kernel + j;
            sum += own[(tap * height + row - i) * width + col - j];
        }
    }
    y[(static_cast<long long>(blockIdx.z) * out_height + row) * out_width + col] = sum;
}
