// y = x / sqrt(mean(x^2 over features) + eps) for x of (batch, features, pixels), read once: a
// block stages all features of 16 positions in dynamic shared memory, (features + 8) x 16 floats,
// the last eight rows for the partial sums of its eight lanes.

constexpr int kPositions = 16;
constexpr int kLanes = 8;

__global__ void rmsnorm_staged(const float* __restrict__ x, float* __restrict__ y, int features,
                               long long pixels, long long positions, float eps) {
    extern __shared__ float stage[];
    float* partial = stage + features * kPositions;

    const int tx = threadIdx.x % kPositions;
    const int ty = threadIdx.x / kPositions;
    const long long position = static_cast<long long>(blockIdx.x) * kPositions + tx;
    const bool inside = position < positions;
    const long long base = (position / pixels) * features * pixels + position % pixels;

    float sum = 0.0f;
    for (int f = ty; f < features; f += kLanes) {
        const float value = inside ? x[base + f * pixels] : 0.0f;
        stage[f * kPositions + tx] = value;
        sum = fmaf(value, value, sum);
    }
    partial[ty * kPositions + tx] = sum;
    __syncthreads();

    float total = 0.0f;
    for (int lane = 0; lane < kLanes; ++lane) {
        total += partial[lane * kPositions + tx];
    }
    const float rms = sqrtf(total / features + eps);
    if (!inside) {
        return;
    }
    for (int f = ty; f < features; f += kLanes) {
        y[base + f * pixels] = stage[f * kPositions + tx] / rms;
    }
}
