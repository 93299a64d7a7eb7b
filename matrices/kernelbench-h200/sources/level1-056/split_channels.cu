// 5 x 7 convolution with the reduction split four ways: each block sums a quarter of the input
// channels for 32 x 4 pixels of 4 output channels into a workspace; a second kernel adds the four.

constexpr int kCols = 32;
constexpr int kRows = 4;
constexpr int kChannels = 4;
constexpr int kSplits = 4;

__global__ void conv2d_partial(const float* __restrict__ x, const float* __restrict__ weight,
                               float* __restrict__ partial, int batch, int in_channels, int height,
                               int width, int out_channels, int out_height, int out_width,
                               int kernel_height, int kernel_width) {
    const int col = blockIdx.x * kCols + threadIdx.x;
    const int row = blockIdx.y * kRows + threadIdx.y;
    if (col >= out_width || row >= out_height) {
        return;
    }
    const int groups = (out_channels + kChannels - 1) / kChannels;
    const int split = blockIdx.z % kSplits;
    const int first_channel = blockIdx.z / kSplits % groups * kChannels;
    const int image = blockIdx.z / kSplits / groups;

    const int share = (in_channels + kSplits - 1) / kSplits;
    const int begin = split * share;
    const int end = min(begin + share, in_channels);
    const int taps = kernel_height * kernel_width;

    float acc[kChannels] = {};
    for (int c = begin; c < end; ++c) {
        const float* plane = x + (static_cast<long long>(image) * in_channels + c) * height * width;
        const float* filter = weight + (first_channel * in_channels + c) * taps;
        for (int t = 0; t < taps; ++t) {
            const int i = t / kernel_width;
            const int j = t - i * kernel_width;
            const float value = plane[(row + i) * width + col + j];
            for (int r = 0; r < kChannels; ++r) {
                if (first_channel + r < out_channels) {
                    acc[r] += value * filter[r * in_channels * taps + t];
                }
            }
        }
    }

    const long long pixels = static_cast<long long>(out_height) * out_width;
    const long long outputs = static_cast<long long>(batch) * out_channels * pixels;
    for (int r = 0; r < kChannels; ++r) {
        const int channel = first_channel + r;
        if (channel < out_channels) {
            const long long out = static_cast<long long>(image) * out_channels + channel;
            partial[split * outputs + out * pixels + row * out_width + col] = acc[r];
        }
    }
}

__global__ void add_partials(const float* __restrict__ partial, float* __restrict__ y,
                             long long outputs) {
    const long long stride = static_cast<long long>(gridDim.x) * blockDim.x;
    for (long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x; i < outputs;
         i += stride) {
        float total = partial[i];
        for (int s = 1; s < kSplits; ++s) {
            total += partial[s * outputs + i];
        }
        y[i] = total;
    }
}
