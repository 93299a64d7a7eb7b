// The same in one launch, with nothing but the result in memory. A block has 16 pooled voxels and
// four threads for each, which take every fourth channel: a thread convolves, keeps the largest of
// the window's eight outputs and adds it to a running log-sum-exp; the four are merged at the end.

#include "conv3d_octet.cuh"
#include "fused_activations.cuh"
#include "limits.cuh"
#include "pool_nan.cuh"

constexpr int kTaps = 27;
constexpr int kPadding = 1;
constexpr int kPool = 2;
constexpr int kOctet = 8;
constexpr int kReach = 4;
constexpr int kVoxels = 16;
constexpr int kShares = 4;

struct RunningSum {
    float top;
    float total;  // of exponentials, that of the top as unit
};

__device__ __forceinline__ RunningSum merged(RunningSum a, RunningSum b) {
    RunningSum sum;
    sum.top = fmaxf(a.top, b.top);
    // An infinity must not be taken from itself.
    const float unit = fabsf(sum.top) == INFINITY ? 0.0f : sum.top;
    sum.total = a.total * expf(a.top - unit) + b.total * expf(b.top - unit);
    return sum;
}

__device__ __forceinline__ void load_cube(float (&cube)[kReach][kReach][kReach],
                                          const float* __restrict__ volume, int first_layer,
                                          int first_row, int first_col, int depth, int height,
                                          int width) {
    for (int i = 0; i < kReach; ++i) {
        const int layer = first_layer + i;
        for (int j = 0; j < kReach; ++j) {
            const int row = first_row + j;
            for (int k = 0; k < kReach; ++k) {
                const int col = first_col + k;
                const bool inside = layer >= 0 && layer < depth && row >= 0 && row < height &&
                                    col >= 0 && col < width;
                cube[i][j][k] = inside ? volume[(layer * height + row) * width + col] : 0.0f;
            }
        }
    }
}

__global__ void __launch_bounds__(kVoxels * kShares)
conv3d_max_logsumexp(const float* __restrict__ x, const float* __restrict__ weight,
                     const float* __restrict__ bias, float* __restrict__ y, int in_channels,
                     int depth, int height, int width, int out_channels, int pool_depth,
                     int pool_height, int pool_width) {
    __shared__ RunningSum sums[kShares][kVoxels];

    const int voxels = pool_depth * pool_height * pool_width;
    const int voxel = blockIdx.x * kVoxels + threadIdx.x;
    const long long image = blockIdx.y;
    const int layer = voxel / (pool_height * pool_width) * kPool - kPadding;
    const int row = voxel / pool_width % pool_height * kPool - kPadding;
    const int col = voxel % pool_width * kPool - kPadding;

    RunningSum own = {-INFINITY, 0.0f};
    for (int channel = threadIdx.y; voxel < voxels && channel < out_channels;
         channel += kShares) {
        float acc[kOctet] = {};
        for (int c = 0; c < in_channels; ++c) {
            const float* volume = x + (image * in_channels + c) * depth * height * width;
            float cube[kReach][kReach][kReach];
            load_cube(cube, volume, layer, row, col, depth, height, width);
            octet_of_cube(acc, cube, weight + (channel * in_channels + c) * kTaps);
        }
        float largest = -INFINITY;
        for (int v = 0; v < kOctet; ++v) {
            const float value = acc[v] + bias[channel];
            largest = nan_max(largest, value);
        }
        const RunningSum one = {largest, 1.0f};
        own = merged(own, one);
    }
    sums[threadIdx.y][threadIdx.x] = own;
    __syncthreads();

    if (threadIdx.y == 0 && voxel < voxels) {
        for (int share = 1; share < kShares; ++share) {
            own = merged(own, sums[share][threadIdx.x]);
        }
        float value = own.top + logf(own.total);
        value = relu(value);
        y[image * voxels + voxel] = value;
    }
}
