// 3 x 3 x 3 convolution of few input channels: a block of 8 x 8 x 2 threads, one output voxel each,
// for 8 output channels at once. All weights of these channels lie in shared memory; the input is
// read through the read-only cache, each voxel once for the 8 channels.

constexpr int kTile = 8;
constexpr int kTileD = 2;
constexpr int kTaps = 3;
constexpr int kChannels = 8;
constexpr int kMaxInputs = 3;

__global__ void conv3d_direct(const float* __restrict__ x, const float* __restrict__ weight,
                              float* __restrict__ y, int in_channels, int depth, int height,
                              int width, int out_channels, int out_depth, int out_height,
                              int out_width) {
    __shared__ float filters[kMaxInputs * kTaps * kTaps * kTaps][kChannels];

    const int slabs = (out_depth + kTileD - 1) / kTileD;
    const int groups = (out_channels + kChannels - 1) / kChannels;
    const int slab = blockIdx.z % slabs;
    const int group = blockIdx.z / slabs % groups;
    const int image = blockIdx.z / slabs / groups;

    const int col = blockIdx.x * kTile + threadIdx.x;
    const int row = blockIdx.y * kTile + threadIdx.y;
    const int layer = slab * kTileD + threadIdx.z;

    const int terms = in_channels * kTaps * kTaps * kTaps;
    const int tid = (threadIdx.z * kTile + threadIdx.y) * kTile + threadIdx.x;
    for (int i = tid; i < terms * kChannels; i += kTile * kTile * kTileD) {
        const int channel = group * kChannels + i / terms;
        const int term = i % terms;
        filters[term][i / terms] = channel < out_channels ? weight[channel * terms + term] : 0.0f;
    }
    __syncthreads();

    if (col >= out_width || row >= out_height || layer >= out_depth) {
        return;
    }

    float sums[kChannels] = {};
    int term = 0;
    for (int c = 0; c < in_channels; ++c) {
        const float* volume = x + (static_cast<long long>(image) * in_channels + c) * depth *
                                      height * width;
        for (int k = 0; k < kTaps; ++k) {
            for (int i = 0; i < kTaps; ++i) {
                const float* line = volume + ((layer + k) * height + row + i) * width + col;
#pragma unroll
                for (int j = 0; j < kTaps; ++j, ++term) {
                    const float value = __ldg(line + j);
#pragma unroll
                    for (int r = 0; r < kChannels; ++r) {
                        sums[r] += value * filters[term][r];
                    }
                }
            }
        }
    }

    const int count = min(kChannels, out_channels - group * kChannels);
    for (int r = 0; r < count; ++r) {
        const long long out =
            static_cast<long long>(image) * out_channels + group * kChannels + r;
        y[((out * out_depth + layer) * out_height + row) * out_width + col] = sums[r];
    }
}
