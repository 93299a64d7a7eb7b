// y = x / sqrt(mean(x^2 over features) + eps) for x of (batch, features, pixels): a position is a
// pixel of an image, its features lie `pixels` apart. 16 positions x 8 lanes a block, each lane
// every eighth feature; partial sums meet in shared memory, then x is read again.

constexpr int kPositions = 16;
constexpr int kLanes = 8;

__global__ void rmsnorm_strided(const float* __restrict__ x, float* __restrict__ y, int features,
                                long long pixels, long long positions, float eps) {
    __shared__ float partial[kLanes][kPositions];

    const int tx = threadIdx.x;
    const int ty = threadIdx.y;
    const long long position = static_cast<long long>(blockIdx.x) * kPositions + tx;
    const bool inside = position < positions;
    const long long image = position / pixels;
    const long long base = image * features * pixels + position % pixels;

    float sum = 0.0f;
    if (inside) {
        for (int f = ty; f < features; f += kLanes) {
            const float value = x[base + f * pixels];
            sum += value * value;
        }
    }
    partial[ty][tx] = sum;
    __syncthreads();
    for (int stride = kLanes / 2; stride > 0; stride >>= 1) {
        if (ty < stride) {
            partial[ty][tx] += partial[ty + stride][tx];
        }
        __syncthreads();
    }

    if (inside) {
        const float scale = rsqrtf(partial[0][tx] / features + eps);
        for (int f = ty; f < features; f += kLanes) {
            y[base + f * pixels] = x[base + f * pixels] * scale;
        }
    }
}
