// 1D average pooling of 8 taps, stride 1, padding 4, four outputs a thread: the five inputs that
// all four have in common are added once. A warp stages the inputs of 128 outputs of its line and
// reads them four at a time; four lines a block, these along the grid's x as it alone takes many.

constexpr int kKernel = 8;
constexpr int kPadding = 4;
constexpr int kLanes = 32;
constexpr int kLines = 4;
constexpr int kOutputs = 4;
constexpr int kTile = kLanes * kOutputs;
constexpr int kInputs = kTile + kKernel - 1;

__global__ void avgpool1d_shared_core(const float* __restrict__ x, float* __restrict__ y,
                                      int lines, int length, int out_length) {
    __shared__ float4 staged[kLines][kLanes + 2];

    const int tx = threadIdx.x;
    const int ty = threadIdx.y;
    const int first_out = blockIdx.y * kTile;
    const long long line = static_cast<long long>(blockIdx.x) * kLines + ty;

    if (line < lines) {
        float* scalars = reinterpret_cast<float*>(staged[ty]);
        const float* in = x + line * length;
        for (int i = tx; i < kInputs; i += kLanes) {
            const int position = first_out - kPadding + i;
            scalars[i] = position >= 0 && position < length ? in[position] : 0.0f;
        }
    }
    __syncthreads();
    if (line >= lines) {
        return;
    }

    const float4 a = staged[ty][tx];
    const float4 b = staged[ty][tx + 1];
    const float4 c = staged[ty][tx + 2];
    const float core = (a.w + b.x) + (b.y + b.z) + b.w;
    float sums[kOutputs];
    sums[0] = core + (a.x + a.y + a.z);
    sums[1] = core + (a.y + a.z + c.x);
    sums[2] = core + (a.z + c.x + c.y);
    sums[3] = core + (c.x + c.y + c.z);

    float* out_line = y + line * out_length;
    for (int k = 0; k < kOutputs; ++k) {
        const int out = first_out + tx * kOutputs + k;
        if (out < out_length) {
            out_line[out] = sums[k] / kKernel;
        }
    }
}
