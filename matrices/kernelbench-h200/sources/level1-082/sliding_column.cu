// Depthwise 3 x 3 convolution without shared memory: a thread walks 8 rows down one column and
// keeps the 3 x 3 inputs under it in registers, of which only the lowest three are new each step.
// A block of 32 x 4 threads covers 32 columns x 32 rows.

constexpr int kCols = 32;
constexpr int kStrips = 4;
constexpr int kStripRows = 8;

__global__ void depthwise_sliding_column(const float* __restrict__ x,
                                         const float* __restrict__ weight, float* __restrict__ y,
                                         int channels, int height, int width, int out_height,
                                         int out_width) {
    const int col = blockIdx.x * kCols + threadIdx.x;
    const int first_row = (blockIdx.y * kStrips + threadIdx.y) * kStripRows;
    if (col >= out_width || first_row >= out_height) {
        return;
    }
    const int image = blockIdx.z / channels;
    const int channel = blockIdx.z % channels;

    float w[9];
    for (int t = 0; t < 9; ++t) {
        w[t] = __ldg(weight + channel * 9 + t);
    }

    const long long plane = static_cast<long long>(image) * channels + channel;
    const float* source = x + (plane * height + first_row) * width + col;
    float* target = y + (plane * out_height + first_row) * out_width + col;
    float a0 = source[0], a1 = source[1], a2 = source[2];
    source += width;
    float b0 = source[0], b1 = source[1], b2 = source[2];
    const int rows = min(kStripRows, out_height - first_row);
    for (int r = 0; r < rows; ++r) {
        source += width;
        const float c0 = source[0], c1 = source[1], c2 = source[2];
        float sum = a0 * w[0] + a1 * w[1] + a2 * w[2];
        sum += b0 * w[3] + b1 * w[4] + b2 * w[5];
        sum += c0 * w[6] + c1 * w[7] + c2 * w[8];
        target[r * out_width] = sum;
        a0 = b0, a1 = b1, a2 = b2;
        b0 = c0, b1 = c1, b2 = c2;
    }
}
