// 3 x 5 transposed convolution, stride 1, as an ordinary convolution with a margin of kernel - 1:
// the first kernel mirrors the taps and packs the weights with output channels innermost, padded
// to a multiple of four; the second reads four channels' weights at once.

// One block an input channel and tap.
__global__ void mirror_weights(const float* __restrict__ weight, float* __restrict__ packed,
                               int out_channels, int taps, int stride) {
    const int c = blockIdx.x / taps;
    const int tap = blockIdx.x % taps;
    for (int channel = threadIdx.x; channel < stride; channel += blockDim.x) {
        packed[blockIdx.x * stride + channel] =
            channel < out_channels ? weight[(c * out_channels + channel) * taps + taps - 1 - tap]
                                   : 0.0f;
    }
}

__global__ void convolve_packed(const float* __restrict__ x, const float4* __restrict__ packed,
                                float* __restrict__ y, int in_channels, int height, int width,
                                int out_channels, int out_height, int out_width, int kernel_height,
                                int kernel_width, int quads) {
    const int col = blockIdx.x * blockDim.x + threadIdx.x;
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    const int quad = blockIdx.z % quads;
    const int image = blockIdx.z / quads;
    if (col >= out_width || row >= out_height) {
        return;
    }

    const int top = row - (kernel_height - 1);
    const int left = col - (kernel_width - 1);
    float4 acc = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    const float4* taps = packed + quad;
    for (int c = 0; c < in_channels; ++c) {
        const float* plane = x + (static_cast<long long>(image) * in_channels + c) * height * width;
        for (int i = 0; i < kernel_height; ++i) {
            for (int j = 0; j < kernel_width; ++j) {
                const int r = top + i;
                const int q = left + j;
                if (r >= 0 && r < height && q >= 0 && q < width) {
                    const float value = plane[r * width + q];
                    const float4 w = *taps;
                    acc.x += value * w.x;
                    acc.y += value * w.y;
                    acc.z += value * w.z;
                    acc.w += value * w.w;
                }
                taps += quads;
            }
        }
    }

    const int channel = quad * 4;
    const int pixels = out_height * out_width;
    float* out = y + (static_cast<long long>(image) * out_channels + channel) * pixels +
                 row * out_width + col;
    out[0] = acc.x;
    if (channel + 1 < out_channels) out[pixels] = acc.y;
    if (channel + 2 < out_channels) out[2 * pixels] = acc.z;
    if (channel + 3 < out_channels) out[3 * pixels] = acc.w;
}
