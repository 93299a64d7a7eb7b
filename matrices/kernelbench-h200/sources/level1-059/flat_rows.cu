// A 3 x 3 x 1 convolution touches its innermost axis nowhere: the two inner axes together are one
// row whose columns lie `depth` apart. Threads walk such flat rows, four rows of 32 elements a
// block, and make 4 output channels each.

constexpr int kCols = 32;
constexpr int kRows = 4;
constexpr int kChannels = 4;
constexpr int kTaps = 3;

__global__ void conv3d_flat_rows(const float* __restrict__ x, const float* __restrict__ weight,
                                 float* __restrict__ y, int in_channels, int height, int width,
                                 int depth, int out_channels, int out_height, int out_width) {
    extern __shared__ float filters[];

    const int groups = (out_channels + kChannels - 1) / kChannels;
    const int image = blockIdx.z / groups;
    const int first_channel = (blockIdx.z - image * groups) * kChannels;
    const int terms = in_channels * kTaps * kTaps;

    const int present = min(kChannels, out_channels - first_channel);
    for (int i = threadIdx.y * kCols + threadIdx.x; i < kChannels * terms; i += kRows * kCols) {
        filters[i] = i < present * terms ? weight[first_channel * terms + i] : 0.0f;
    }
    __syncthreads();

    const int row_length = width * depth;
    const int out_length = out_width * depth;
    const int element = blockIdx.x * kCols + threadIdx.x;
    const int row = blockIdx.y * kRows + threadIdx.y;
    if (element >= out_length || row >= out_height) {
        return;
    }

    const long long plane = static_cast<long long>(height) * row_length;
    const float* source = x + image * in_channels * plane +
                          static_cast<long long>(row) * row_length + element;
    float acc0 = 0.0f, acc1 = 0.0f, acc2 = 0.0f, acc3 = 0.0f;
    for (int c = 0; c < in_channels; ++c) {
        for (int tap = 0; tap < kTaps * kTaps; ++tap) {
            const float value = source[tap / kTaps * row_length + tap % kTaps * depth];
            const float* filter = filters + c * kTaps * kTaps + tap;
            acc0 += value * filter[0];
            acc1 += value * filter[terms];
            acc2 += value * filter[2 * terms];
            acc3 += value * filter[3 * terms];
        }
        source += plane;
    }

    const float acc[kChannels] = {acc0, acc1, acc2, acc3};
    for (int r = 0; r < present; ++r) {
        const long long line =
            (static_cast<long long>(image) * out_channels + first_channel + r) * out_height + row;
        y[line * out_length + element] = acc[r];
    }
}
