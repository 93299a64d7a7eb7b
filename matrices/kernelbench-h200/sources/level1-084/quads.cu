// Depthwise 3 x 3 convolution, 2 x 2 outputs a thread: the 16 inputs under them are loaded once
// into registers. 16 x 8 threads cover 32 columns x 16 rows of one channel.

constexpr int kThreadsX = 16;
constexpr int kThreadsY = 8;

__global__ void depthwise_quads(const float* __restrict__ x, const float* __restrict__ weight,
                                float* __restrict__ y, int channels, int height, int width,
                                int out_height, int out_width) {
    const int channel = blockIdx.z % channels;
    const int image = blockIdx.z / channels;
    const int col = (blockIdx.x * kThreadsX + threadIdx.x) * 2;
    const int row = (blockIdx.y * kThreadsY + threadIdx.y) * 2;
    if (row >= out_height || col >= out_width) {
        return;
    }

    const long long plane = static_cast<long long>(image) * channels + channel;
    const float* source = x + plane * height * width;
    float patch[4][4];
    for (int i = 0; i < 4; ++i) {
        // A patch that leaves the image repeats its border; what that adds to is not stored.
        const int line = min(row + i, height - 1);
        for (int j = 0; j < 4; ++j) {
            patch[i][j] = source[static_cast<long long>(line) * width + min(col + j, width - 1)];
        }
    }

    float sums[2][2] = {};
    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) {
            const float factor = weight[channel * 9 + i * 3 + j];
            sums[0][0] += patch[i][j] * factor;
            sums[0][1] += patch[i][j + 1] * factor;
            sums[1][0] += patch[i + 1][j] * factor;
            sums[1][1] += patch[i + 1][j + 1] * factor;
        }
    }

    float* target = y + plane * out_height * out_width;
    for (int i = 0; i < 2; ++i) {
        for (int j = 0; j < 2; ++j) {
            if (row + i < out_height && col + j < out_width) {
                target[static_cast<long long>(row + i) * out_width + col + j] = sums[i][j];
            }
        }
    }
}
