// 3 x 3 x 1 convolution with the input held still: a block stages what 16 columns of one output
// row need of every input channel, then walks through all output channels over it. A thread holds
// its 27 inputs in registers while the filters pass by.

constexpr int kTile = 16;
constexpr int kTaps = 3;
constexpr int kHalo = kTile + kTaps - 1;
constexpr int kInputs = 3;
constexpr int kThreads = 128;

__global__ void conv3d_input_stationary(const float* __restrict__ x,
                                        const float* __restrict__ weight, float* __restrict__ y,
                                        int height, int width, int depth, int out_channels,
                                        int out_height, int out_width) {
    extern __shared__ float strips[];  // inputs, taps along the height, columns, depth

    const int first_col = blockIdx.x * kTile;
    const int out_row = blockIdx.y;
    const int image = blockIdx.z;
    const int cols = min(kTile, out_width - first_col);
    const int strip = kHalo * depth;
    const int filled = (cols + kTaps - 1) * depth;

    for (int line = 0; line < kInputs * kTaps; ++line) {
        const int c = line / kTaps;
        const int row = out_row + line % kTaps;
        const float* source =
            x + (((static_cast<long long>(image) * kInputs + c) * height + row) * width +
                 first_col) * depth;
        for (int i = threadIdx.x; i < filled; i += kThreads) {
            strips[line * strip + i] = source[i];
        }
    }
    __syncthreads();

    for (int element = threadIdx.x; element < cols * depth; element += kThreads) {
        float values[kInputs * kTaps * kTaps];
#pragma unroll
        for (int t = 0; t < kInputs * kTaps * kTaps; ++t) {
            values[t] = strips[t / kTaps * strip + t % kTaps * depth + element];
        }
        for (int channel = 0; channel < out_channels; ++channel) {
            const float* filter = weight + channel * kInputs * kTaps * kTaps;
            float sum = 0.0f;
#pragma unroll
            for (int t = 0; t < kInputs * kTaps * kTaps; ++t) {
                sum += values[t] * __ldg(filter + t);
            }
            const long long line =
                (static_cast<long long>(image) * out_channels + channel) * out_height + out_row;
            y[(line * out_width + first_col) * depth + element] = sum;
        }
    }
}
