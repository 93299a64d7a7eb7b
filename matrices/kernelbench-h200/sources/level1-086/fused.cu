// Depthwise-separable convolution in one launch: a block makes the depthwise result of 16
// neighbouring pixels for all input channels, keeps it in shared memory, and multiplies it with the
// pointwise weights from there. 16 x 8 threads; each row of threads has output channels of its own.

constexpr int kPixels = 16;
constexpr int kRows = 8;
constexpr int kTaps = 3;
constexpr int kPadding = 1;

__global__ void separable_fused(const float* __restrict__ x,
                                const float* __restrict__ depthwise_weight,
                                const float* __restrict__ pointwise_weight, float* __restrict__ y,
                                int in_channels, int height, int width, int out_channels) {
    extern __shared__ float middle[];  // in_channels x kPixels

    const int row = blockIdx.y;
    const int col = blockIdx.x * kPixels + threadIdx.x;
    const long long image = blockIdx.z;

    for (int c = threadIdx.y; c < in_channels; c += kRows) {
        const float* plane = x + (image * in_channels + c) * height * width;
        const float* filter = depthwise_weight + c * kTaps * kTaps;
        float sum = 0.0f;
        for (int i = 0; i < kTaps; ++i) {
            const int from_row = row - kPadding + i;
            if (from_row < 0 || from_row >= height) {
                continue;
            }
            for (int j = 0; j < kTaps; ++j) {
                const int from_col = col - kPadding + j;
                const float value =
                    from_col >= 0 && from_col < width ? plane[from_row * width + from_col] : 0.0f;
                sum += value * __ldg(filter + i * kTaps + j);
            }
        }
        middle[c * kPixels + threadIdx.x] = sum;
    }
    __syncthreads();

    if (col >= width) {
        return;
    }
    for (int channel = threadIdx.y; channel < out_channels; channel += kRows) {
        const float* factors = pointwise_weight + channel * in_channels;
        float even = 0.0f;
        float odd = 0.0f;
        int c = 0;
        for (; c + 1 < in_channels; c += 2) {
            even += middle[c * kPixels + threadIdx.x] * factors[c];
            odd += middle[(c + 1) * kPixels + threadIdx.x] * factors[c + 1];
        }
        if (c < in_channels) {
            even += middle[c * kPixels + threadIdx.x] * factors[c];
        }
        y[((image * out_channels + channel) * height + row) * width + col] = even + odd;
    }
}
