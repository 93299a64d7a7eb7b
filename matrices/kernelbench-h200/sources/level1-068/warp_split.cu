// 3 x 5 x 5 transposed convolution, stride 1: a block makes 32 voxels of 4 output channels. Its
// four warps take every fourth input channel each, so that every input is read once for all four
// output channels; the warps' sums meet in shared memory.

constexpr int kDepth = 3;
constexpr int kSide = 5;
constexpr int kTaps = kDepth * kSide * kSide;
constexpr int kLanes = 32;
constexpr int kChannels = 4;
constexpr int kWarps = 4;

__global__ void conv_transpose3d_warp_split(const float* __restrict__ x,
                                            const float* __restrict__ weight,
                                            float* __restrict__ y, int in_channels, int depth,
                                            int height, int width, int out_channels, int out_depth,
                                            int out_height, int out_width) {
    __shared__ float sums[kWarps][kChannels][kLanes];

    const int lane = threadIdx.x;
    const int warp = threadIdx.y;
    const int voxels = out_depth * out_height * out_width;
    const int voxel = blockIdx.x * kLanes + lane;
    const int first_channel = blockIdx.y * kChannels;
    const int channels = min(kChannels, out_channels - first_channel);
    const size_t image = blockIdx.z;
    const int plane = height * width;

    float acc[kChannels] = {0.0f, 0.0f, 0.0f, 0.0f};
    if (voxel < voxels) {
        const int d = voxel / (out_height * out_width);
        const int h = voxel / out_width % out_height;
        const int w = voxel % out_width;
        for (int c = warp; c < in_channels; c += kWarps) {
            const float* volume = x + (image * in_channels + c) * depth * plane;
            const float* weights = weight + (c * out_channels + first_channel) * kTaps;
            for (int i = 0; i < kDepth; ++i) {
                const int id = d - i;
                if (id < 0 || id >= depth) continue;
                for (int j = 0; j < kSide; ++j) {
                    const int ih = h - j;
                    if (ih < 0 || ih >= height) continue;
                    const float* line = volume + id * plane + ih * width;
                    for (int k = 0; k < kSide; ++k) {
                        const int iw = w - k;
                        if (iw < 0 || iw >= width) continue;
                        const float value = line[iw];
                        const float* tap = weights + (i * kSide + j) * kSide + k;
                        for (int o = 0; o < channels; ++o) {
                            acc[o] += value * tap[o * kTaps];
                        }
                    }
                }
            }
        }
    }
    for (int o = 0; o < kChannels; ++o) {
        sums[warp][o][lane] = acc[o];
    }
    __syncthreads();

    // From here on a warp stands for an output channel.
    if (voxel < voxels && warp < channels) {
        float total = sums[0][warp][lane];
        for (int s = 1; s < kWarps; ++s) {
            total += sums[s][warp][lane];
        }
        y[(image * out_channels + first_channel + warp) * voxels + voxel] = total;
    }
}
