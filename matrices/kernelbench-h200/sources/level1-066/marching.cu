// 3 x 5 x 7 convolution marching through the layers: a thread stands over one output column and
// keeps the sums of three successive output layers. Each input layer, read once, adds to all
// three; then the oldest is complete, is stored, and makes room.

constexpr int kCols = 16;
constexpr int kRows = 8;
constexpr int kTapsD = 3;
constexpr int kInputs = 3;

__global__ void conv3d_marching(const float* __restrict__ x, const float* __restrict__ weight,
                                float* __restrict__ y, int depth, int height, int width,
                                int out_channels, int out_depth, int out_height, int out_width,
                                int kernel_height, int kernel_width) {
    extern __shared__ float filters[];  // of one output channel: inputs, taps

    const int image = blockIdx.z / out_channels;
    const int channel = blockIdx.z % out_channels;
    const int area = kernel_height * kernel_width;
    const int terms = kInputs * kTapsD * area;
    for (int i = threadIdx.y * kCols + threadIdx.x; i < terms; i += kCols * kRows) {
        filters[i] = weight[channel * terms + i];
    }
    __syncthreads();

    const int col = blockIdx.x * kCols + threadIdx.x;
    const int row = blockIdx.y * kRows + threadIdx.y;
    if (col >= out_width || row >= out_height) {
        return;
    }

    const long long layer_size = static_cast<long long>(height) * width;
    const long long out_size = static_cast<long long>(out_height) * out_width;
    float* column = y + (static_cast<long long>(image) * out_channels + channel) * out_depth *
                            out_size + row * out_width + col;
    float oldest = 0.0f, middle = 0.0f, newest = 0.0f;
    for (int layer = 0; layer < depth; ++layer) {
        for (int c = 0; c < kInputs; ++c) {
            const float* source =
                x + ((static_cast<long long>(image) * kInputs + c) * depth + layer) * layer_size +
                row * width + col;
            const float* filter = filters + c * kTapsD * area;
            for (int i = 0; i < kernel_height; ++i) {
                for (int j = 0; j < kernel_width; ++j) {
                    const float value = source[i * width + j];
                    const int tap = i * kernel_width + j;
                    oldest += value * filter[2 * area + tap];
                    middle += value * filter[area + tap];
                    newest += value * filter[tap];
                }
            }
        }
        if (layer >= kTapsD - 1) {
            column[(layer - kTapsD + 1) * out_size] = oldest;
        }
        oldest = middle;
        middle = newest;
        newest = 0.0f;
    }
}
