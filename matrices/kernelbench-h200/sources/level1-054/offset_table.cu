// 3D convolution as an implicit matrix product. A first kernel tabulates how far each term of the
// reduction lies from the corner of a patch, so that the product's inner loop neither divides nor
// knows how many axes there are. 128 threads make 32 voxels x 16 channels, each 2 x 2.

constexpr int kVoxels = 32;
constexpr int kChannels = 16;
constexpr int kStep = 8;
constexpr int kThreads = 128;

__global__ void tabulate_offsets(int* __restrict__ offsets, int terms, int kernel, int depth,
                                 int height, int width) {
    const int term = blockIdx.x * blockDim.x + threadIdx.x;
    if (term < terms) {
        const int j = term % kernel;
        const int i = term / kernel % kernel;
        const int k = term / (kernel * kernel) % kernel;
        const int c = term / (kernel * kernel * kernel);
        offsets[term] = ((c * depth + k) * height + i) * width + j;
    }
}

__global__ void conv3d_by_table(const float* __restrict__ x, const float* __restrict__ weight,
                                const int* __restrict__ offsets, float* __restrict__ y, int terms,
                                int image_size, int height, int width, int out_channels,
                                int out_depth, int out_height, int out_width) {
    __shared__ float a[kStep][kChannels];
    __shared__ float b[kStep][kVoxels];

    const int voxels = out_depth * out_height * out_width;
    const int first_voxel = blockIdx.x * kVoxels;
    const int first_channel = blockIdx.y * kChannels;
    const float* image = x + static_cast<long long>(blockIdx.z) * image_size;

    const int lane = threadIdx.x % kVoxels;
    const int load_row = threadIdx.x / kVoxels;
    const int voxel = first_voxel + lane;
    const int layer = voxel / (out_height * out_width);
    const int row = voxel / out_width % out_height;
    const float* corner = image + (layer * height + row) * width + voxel % out_width;

    const int tx = threadIdx.x % (kVoxels / 2);
    const int ty = threadIdx.x / (kVoxels / 2);
    float c00 = 0.0f, c01 = 0.0f, c10 = 0.0f, c11 = 0.0f;

    for (int base = 0; base < terms; base += kStep) {
        for (int k = load_row; k < kStep; k += kThreads / kVoxels) {
            const bool present = base + k < terms && voxel < voxels;
            b[k][lane] = present ? corner[offsets[base + k]] : 0.0f;
        }
        const int channel = first_channel + threadIdx.x / kStep;
        const int term = base + threadIdx.x % kStep;
        a[threadIdx.x % kStep][threadIdx.x / kStep] =
            channel < out_channels && term < terms ? weight[channel * terms + term] : 0.0f;
        __syncthreads();
#pragma unroll
        for (int k = 0; k < kStep; ++k) {
            const float a0 = a[k][ty];
            const float a1 = a[k][ty + kChannels / 2];
            const float b0 = b[k][tx];
            const float b1 = b[k][tx + kVoxels / 2];
            c00 = fmaf(a0, b0, c00);
            c01 = fmaf(a0, b1, c01);
            c10 = fmaf(a1, b0, c10);
            c11 = fmaf(a1, b1, c11);
        }
        __syncthreads();
    }

    const float results[2][2] = {{c00, c01}, {c10, c11}};
    for (int i = 0; i < 2; ++i) {
        const int channel = first_channel + ty + i * (kChannels / 2);
        for (int j = 0; j < 2; ++j) {
            const int out = first_voxel + tx + j * (kVoxels / 2);
            if (channel < out_channels && out < voxels) {
                const long long plane = static_cast<long long>(blockIdx.z) * out_channels + channel;
                y[plane * voxels + out] = results[i][j];
            }
        }
    }
}
