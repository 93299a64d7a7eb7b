// 3 x 3 convolution, 2 x 2 outputs a thread: the 4 x 4 inputs under them go to registers once and
// serve 6 output channels, whose filters of all input channels lie in shared memory. A block of
// 16 x 8 threads covers 32 x 16 pixels.

constexpr int kThreadsX = 16;
constexpr int kThreadsY = 8;
constexpr int kChannels = 6;
constexpr int kInputs = 16;

__global__ void conv2d_patch_registers(const float* __restrict__ x,
                                       const float* __restrict__ weight, float* __restrict__ y,
                                       int height, int width, int out_channels, int out_height,
                                       int out_width) {
    __shared__ float filters[kInputs][3][3][kChannels];

    const int groups = (out_channels + kChannels - 1) / kChannels;
    const long long image = blockIdx.z / groups;
    const int first_channel = blockIdx.z % groups * kChannels;
    const int col = 2 * (blockIdx.x * kThreadsX + threadIdx.x);
    const int row = 2 * (blockIdx.y * kThreadsY + threadIdx.y);

    const int tid = threadIdx.y * kThreadsX + threadIdx.x;
    for (int i = tid; i < kChannels * kInputs * 9; i += kThreadsX * kThreadsY) {
        const int channel = first_channel + i / (kInputs * 9);
        const int c = i / 9 % kInputs;
        const float value = channel < out_channels ? weight[first_channel * kInputs * 9 + i] : 0.0f;
        filters[c][i % 9 / 3][i % 3][i / (kInputs * 9)] = value;
    }
    __syncthreads();
    if (row >= out_height || col >= out_width) {
        return;
    }

    float acc[kChannels][2][2] = {};
    for (int c = 0; c < kInputs; ++c) {
        const float* plane = x + (image * kInputs + c) * height * width;
        float patch[4][4];
#pragma unroll
        for (int i = 0; i < 4; ++i) {
#pragma unroll
            for (int j = 0; j < 4; ++j) {
                const bool inside = row + i < height && col + j < width;
                patch[i][j] = inside ? plane[(row + i) * width + col + j] : 0.0f;
            }
        }
#pragma unroll
        for (int i = 0; i < 3; ++i) {
#pragma unroll
            for (int j = 0; j < 3; ++j) {
                const float* filter = filters[c][i][j];
#pragma unroll
                for (int r = 0; r < kChannels; ++r) {
                    acc[r][0][0] += patch[i][j] * filter[r];
                    acc[r][0][1] += patch[i][j + 1] * filter[r];
                    acc[r][1][0] += patch[i + 1][j] * filter[r];
                    acc[r][1][1] += patch[i + 1][j + 1] * filter[r];
                }
            }
        }
    }

    for (int r = 0; r < kChannels; ++r) {
        if (first_channel + r >= out_channels) {
            break;
        }
        float* plane = y + (image * out_channels + first_channel + r) * out_height * out_width;
        for (int p = 0; p < 4; ++p) {
            const int i = row + p / 2;
            const int j = col + p % 2;
            if (i < out_height && j < out_width) {
                plane[i * out_width + j] = acc[r][p / 2][p % 2];
            }
        }
    }
}
