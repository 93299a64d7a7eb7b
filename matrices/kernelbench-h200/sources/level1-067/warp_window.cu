// 1D convolution with three taps, without shared memory: a warp reads 32 neighbouring samples and
// two more, and the lanes hand each other their neighbours' by shuffles. Each of the 4 warps of a
// block has the same positions and 4 channels of its own.

constexpr int kWarps = 4;
constexpr int kChannels = 4;
constexpr unsigned kAll = 0xffffffffu;

__global__ void conv1d_warp_window(const float* __restrict__ x, const float* __restrict__ weight,
                                   float* __restrict__ y, int in_channels, int length,
                                   int out_channels, int out_length) {
    const int lane = threadIdx.x % 32;
    const int warp = threadIdx.x / 32;
    const int position = blockIdx.x * 32 + lane;
    const int first_channel = (blockIdx.y * kWarps + warp) * kChannels;
    const long long image = blockIdx.z;

    float acc[kChannels] = {};
    for (int c = 0; c < in_channels; ++c) {
        const float* row = x + (image * in_channels + c) * length;
        const float here = position < length ? row[position] : 0.0f;
        float beyond = 0.0f;
        if (lane < 2 && position + 32 < length) {
            beyond = row[position + 32];
        }
        float next = __shfl_down_sync(kAll, here, 1);
        float second = __shfl_down_sync(kAll, here, 2);
        const float beyond_next = __shfl_sync(kAll, beyond, (lane + 1) % 32);
        const float beyond_second = __shfl_sync(kAll, beyond, (lane + 2) % 32);
        if (lane == 31) {
            next = beyond_next;
        }
        if (lane >= 30) {
            second = beyond_second;
        }
        for (int r = 0; r < kChannels; ++r) {
            // The last warp's surplus channels repeat a real one, so that no lane leaves the warp.
            const int channel = min(first_channel + r, out_channels - 1);
            const float* taps = weight + (channel * in_channels + c) * 3;
            acc[r] += here * __ldg(taps);
            acc[r] += next * __ldg(taps + 1);
            acc[r] += second * __ldg(taps + 2);
        }
    }

    for (int r = 0; r < kChannels; ++r) {
        const int channel = first_channel + r;
        if (channel < out_channels && position < out_length) {
            y[(image * out_channels + channel) * out_length + position] = acc[r];
        }
    }
}
