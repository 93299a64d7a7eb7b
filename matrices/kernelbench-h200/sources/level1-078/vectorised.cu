// 3 x 7 transposed convolution, stride 1, padding 1 x 3: a thread makes 4 neighbouring outputs of
// a row. Input and output have the same shape, so that where rows are whole float4s the 10 inputs
// under a row of taps are three aligned loads and the outputs are one aligned store.

constexpr int kKernelH = 3;
constexpr int kKernelW = 7;
constexpr int kPadH = 1;
constexpr int kPadW = 3;
constexpr int kEach = 4;
constexpr int kWindow = 3 * kEach;  // inputs first - 4 to first + 7

__global__ void conv_transpose2d_padded_vectorised(const float* __restrict__ x,
                                                   const float* __restrict__ weight,
                                                   float* __restrict__ y, int in_channels,
                                                   int height, int width, int out_channels) {
    const int first = (blockIdx.x * blockDim.x + threadIdx.x) * kEach;
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    const int channel = blockIdx.z % out_channels;
    const long long image = blockIdx.z / out_channels;
    if (first >= width || row >= height) {
        return;
    }
    const bool aligned = width % kEach == 0;

    float4 acc = {0.0f, 0.0f, 0.0f, 0.0f};
    for (int c = 0; c < in_channels; ++c) {
        const float* plane = x + (image * in_channels + c) * height * width;
        const float* taps = weight + (c * out_channels + channel) * kKernelH * kKernelW;
        for (int i = 0; i < kKernelH; ++i) {
            const int source = row + kPadH - i;
            if (source < 0 || source >= height) {
                continue;
            }
            const float* line = plane + source * width;
            float window[kWindow];
#pragma unroll
            for (int v = 0; v < 3; ++v) {
                const int start = first + (v - 1) * kEach;
                float4 four = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
                if (aligned && start >= 0 && start < width) {
                    four = *reinterpret_cast<const float4*>(line + start);
                } else if (!aligned) {
                    if (start >= 0 && start < width) four.x = line[start];
                    if (start + 1 >= 0 && start + 1 < width) four.y = line[start + 1];
                    if (start + 2 >= 0 && start + 2 < width) four.z = line[start + 2];
                    if (start + 3 >= 0 && start + 3 < width) four.w = line[start + 3];
                }
                window[v * kEach] = four.x;
                window[v * kEach + 1] = four.y;
                window[v * kEach + 2] = four.z;
                window[v * kEach + 3] = four.w;
            }
#pragma unroll
            for (int j = 0; j < kKernelW; ++j) {
                const float tap = __ldg(taps + i * kKernelW + j);
                acc.x += window[kEach + kPadW - j] * tap;
                acc.y += window[kEach + kPadW - j + 1] * tap;
                acc.z += window[kEach + kPadW - j + 2] * tap;
                acc.w += window[kEach + kPadW - j + 3] * tap;
            }
        }
    }

    float* out = y + ((image * out_channels + channel) * height + row) * width + first;
    if (aligned) {
        *reinterpret_cast<float4*>(out) = acc;
    } else {
        out[0] = acc.x;
        if (first + 1 < width) out[1] = acc.y;
        if (first + 2 < width) out[2] = acc.z;
        if (first + 3 < width) out[3] = acc.w;
    }
}
