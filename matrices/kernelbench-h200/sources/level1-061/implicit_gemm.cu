// 3 x 3 x 3 transposed convolution, stride 1, as a matrix product that is never stored: rows are
// output channels, columns the output voxels of one image, the reduction runs over input channels
// and taps. 128 threads make 4 channels x 32 voxels; a warp has one channel.

constexpr int kKernel = 3;
constexpr int kTaps = kKernel * kKernel * kKernel;
constexpr int kTileM = 4;
constexpr int kTileN = 32;
constexpr int kTileK = 32;
constexpr int kThreads = kTileM * kTileN;

__global__ void __launch_bounds__(kThreads)
conv_transpose3d_implicit_gemm(const float* __restrict__ x, const float* __restrict__ weight,
                               float* __restrict__ y, int in_channels, int depth, int height,
                               int width, int out_channels, int out_depth, int out_height,
                               int out_width) {
    __shared__ float tile_w[kTileM][kTileK];
    __shared__ float tile_x[kTileK][kTileN];

    const int lane = threadIdx.x % kTileN;
    const int warp = threadIdx.x / kTileN;
    const int channel = blockIdx.y * kTileM + warp;
    const int voxels = out_depth * out_height * out_width;
    const int voxel = blockIdx.x * kTileN + lane;
    const int reduction = in_channels * kTaps;
    const float* image =
        x + static_cast<long long>(blockIdx.z) * in_channels * depth * height * width;

    // Every thread stages the same voxel in all steps: its coordinates are found once.
    const int od = voxel / (out_height * out_width);
    const int oh = voxel / out_width % out_height;
    const int ow = voxel % out_width;

    float acc = 0.0f;
    for (int k0 = 0; k0 < reduction; k0 += kTileK) {
        // A warp stages the weights of its channel, one a lane, then every fourth row of inputs.
        const int own = k0 + lane;
        tile_w[warp][lane] =
            own < reduction && channel < out_channels
                ? weight[(own / kTaps * out_channels + channel) * kTaps + own % kTaps]
                : 0.0f;
        for (int step = warp; step < kTileK; step += kTileM) {
            const int k = k0 + step;
            const int tap = k % kTaps;
            const int d = od - tap / (kKernel * kKernel);
            const int h = oh - tap / kKernel % kKernel;
            const int w = ow - tap % kKernel;
            const bool inside = k < reduction && voxel < voxels && d >= 0 && d < depth && h >= 0 &&
                                h < height && w >= 0 && w < width;
            tile_x[step][lane] =
                inside ? image[((k / kTaps * depth + d) * height + h) * width + w] : 0.0f;
        }
        __syncthreads();

#pragma unroll
        for (int k = 0; k < kTileK; ++k) {
            acc += tile_w[warp][k] * tile_x[k][lane];
        }
        __syncthreads();
    }

    if (channel < out_channels && voxel < voxels) {
        y[(static_cast<long long>(blockIdx.z) * out_channels + channel) * voxels + voxel] = acc;
    }
}
