// The same with the convolution as an implicit matrix product in a launch of its own. 128 threads
// make 16 channels of 64 voxels, each 2 x 4; while they multiply one slice of 8 terms, the next is
// on its way to registers, and from there to the other half of shared memory. The epilogue is a
// second pass over memory, four floats at a time.

#include "conv_vector.cuh"
#include "fused_activations.cuh"

constexpr int kKernel = 3;
constexpr int kTaps = kKernel * kKernel * kKernel;
constexpr int kChannels = 16;
constexpr int kVoxels = 64;
constexpr int kTerms = 8;
constexpr int kThreads = 128;
constexpr int kOwnTerms = kVoxels * kTerms / kThreads;
constexpr int kOwnRows = 2;
constexpr int kOwnCols = 4;

__global__ void __launch_bounds__(kThreads)
conv3d_double_buffered(const float* __restrict__ x, const float* __restrict__ weight,
                       float* __restrict__ hidden, int terms, int depth, int height, int width,
                       int out_channels, int out_depth, int out_height, int out_width) {
    __shared__ float filters[2][kTerms][kChannels];
    __shared__ __align__(16) float patches[2][kTerms][kVoxels];

    const int tid = threadIdx.x;
    const int voxels = out_depth * out_height * out_width;
    const int first_channel = blockIdx.y * kChannels;
    const int first_voxel = blockIdx.x * kVoxels;
    const float* image =
        x + static_cast<long long>(blockIdx.z) * (terms / kTaps) * depth * height * width;

    // This thread stages terms first_term, + 2, + 4, + 6 of one voxel, and one weight.
    const int lane = tid % kVoxels;
    const int first_term = tid / kVoxels;
    const int staged = first_voxel + lane;
    const int layer = staged / (out_height * out_width);
    const int row = staged / out_width % out_height;
    const float* corner = image + (layer * height + row) * width + staged % out_width;
    const int weight_channel = first_channel + tid / kTerms;
    const int weight_term = tid % kTerms;

    float next_patch[kOwnTerms];
    float next_filter = 0.0f;
    auto load = [&](int base) {
        for (int n = 0; n < kOwnTerms; ++n) {
            const int term = base + first_term + n * (kThreads / kVoxels);
            const int tap = term % kTaps;
            const int at = ((term / kTaps * depth + tap / 9) * height + tap / 3 % 3) * width +
                           tap % 3;
            next_patch[n] = term < terms && staged < voxels ? corner[at] : 0.0f;
        }
        const int term = base + weight_term;
        next_filter = weight_channel < out_channels && term < terms
                          ? weight[weight_channel * terms + term]
                          : 0.0f;
    };
    auto store = [&](int half) {
        for (int n = 0; n < kOwnTerms; ++n) {
            patches[half][first_term + n * (kThreads / kVoxels)][lane] = next_patch[n];
        }
        filters[half][weight_term][tid / kTerms] = next_filter;
    };

    const int tx = tid % (kVoxels / kOwnCols);
    const int ty = tid / (kVoxels / kOwnCols);
    float acc[kOwnRows][kOwnCols] = {};
    int half = 0;
    load(0);
    store(half);
    __syncthreads();
    for (int base = 0; base < terms; base += kTerms) {
        const bool more = base + kTerms < terms;
        if (more) {
            load(base + kTerms);
        }
#pragma unroll
        for (int t = 0; t < kTerms; ++t) {
            const float4 values =
                *reinterpret_cast<const float4*>(&patches[half][t][tx * kOwnCols]);
#pragma unroll
            for (int o = 0; o < kOwnRows; ++o) {
                const float factor = filters[half][t][ty * kOwnRows + o];
                acc[o][0] += factor * values.x;
                acc[o][1] += factor * values.y;
                acc[o][2] += factor * values.z;
                acc[o][3] += factor * values.w;
            }
        }
        if (more) {
            half ^= 1;
            store(half);
            __syncthreads();
        }
    }

    for (int o = 0; o < kOwnRows; ++o) {
        const int channel = first_channel + ty * kOwnRows + o;
        if (channel >= out_channels) {
            return;
        }
        const long long plane = static_cast<long long>(blockIdx.z) * out_channels + channel;
        for (int s = 0; s < kOwnCols; ++s) {
            const int voxel = first_voxel + tx * kOwnCols + s;
            if (voxel < voxels) {
                hidden[plane * voxels + voxel] = acc[o][s];
            }
        }
    }
}

__device__ __forceinline__ float finish(float value, float bias, float summand, float slope,
                                        float low, float high) {
    value += bias;
    value = leaky_relu(value, slope);
    value += summand;
    value = clamp_to(value, low, high);
    return gelu_erf(value);
}

__global__ void leaky_add_clamp_gelu(const float* __restrict__ hidden,
                                     const float* __restrict__ bias,
                                     const float* __restrict__ summand, float* __restrict__ y,
                                     int out_channels, int voxels, float slope, float low,
                                     float high) {
    const int channel = blockIdx.y % out_channels;
    const long long plane = static_cast<long long>(blockIdx.y) * voxels;
    const bool aligned = voxels % 4 == 0;
    const float b = bias[channel];
    const float s = summand[channel];
    const int stride = gridDim.x * blockDim.x * 4;
    for (int at = (blockIdx.x * blockDim.x + threadIdx.x) * 4; at < voxels; at += stride) {
        float4 quad = load4(hidden + plane + at, voxels - at, aligned);
        quad.x = finish(quad.x, b, s, slope, low, high);
        quad.y = finish(quad.y, b, s, slope, low, high);
        quad.z = finish(quad.z, b, s, slope, low, high);
        quad.w = finish(quad.w, b, s, slope, low, high);
        store4(y + plane + at, quad, voxels - at, aligned);
    }
}
