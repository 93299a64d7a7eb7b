// Grouped, strided and padded transposed convolution of volumes, one launch a phase: outputs of
// one residue modulo the stride along each axis are an ordinary stride 1 convolution with every
// stride-th tap, without a test whether a tap hits.

struct PhaseAxis {
    int out;    // output coordinate
    int first;  // first tap that hits
    int last;   // input under the first tap; each further one reads one input to the left
};

__device__ __forceinline__ PhaseAxis phase_axis(int step, int phase, int stride, int padding) {
    PhaseAxis axis;
    axis.out = step * stride + phase;
    axis.first = (phase + padding) % stride;
    axis.last = (axis.out + padding - axis.first) / stride;
    return axis;
}

__global__ void conv_transpose3d_phase(
    const float* __restrict__ x, const float* __restrict__ weight, float* __restrict__ y,
    int group_in_channels, int depth, int height, int width, int group_out_channels, int out_depth,
    int out_height, int out_width, int kernel_depth, int kernel_height, int kernel_width,
    int stride_depth, int stride_height, int stride_width, int padding_depth, int padding_height,
    int padding_width, int phase_depth, int phase_height, int phase_width, int channels) {
    // A block covers 4 x 4 steps of the phase in width and height, at one depth, for 8 channels.
    const int steps_d = (out_depth - phase_depth + stride_depth - 1) / stride_depth;
    const PhaseAxis d =
        phase_axis(blockIdx.z % steps_d, phase_depth, stride_depth, padding_depth);
    const PhaseAxis h = phase_axis(blockIdx.y * blockDim.y + threadIdx.y, phase_height,
                                   stride_height, padding_height);
    const PhaseAxis w = phase_axis(blockIdx.x * blockDim.x + threadIdx.x, phase_width,
                                   stride_width, padding_width);
    const int channel_blocks = (channels + blockDim.z - 1) / blockDim.z;
    const int image = blockIdx.z / steps_d / channel_blocks;
    const int channel = blockIdx.z / steps_d % channel_blocks * blockDim.z + threadIdx.z;
    if (h.out >= out_height || w.out >= out_width || channel >= channels) {
        return;
    }
    const int group = channel / group_out_channels;
    const int groups = channels / group_out_channels;

    float acc = 0.0f;
    for (int c = 0; c < group_in_channels; ++c) {
        const int in_channel = group * group_in_channels + c;
        const size_t volume =
            (static_cast<size_t>(image) * groups * group_in_channels + in_channel) * depth;
        const int filter = in_channel * group_out_channels + channel % group_out_channels;
        const float* own = weight + filter * kernel_depth * kernel_height * kernel_width;
        for (int i = d.first, sd = d.last; i < kernel_depth; i += stride_depth, --sd) {
            if (sd < 0 || sd >= depth) continue;
            for (int j = h.first, sh = h.last; j < kernel_height; j += stride_height, --sh) {
                if (sh < 0 || sh >= height) continue;
                const float* line = x + ((volume + sd) * height + sh) * width;
                const float* tap = own + (i * kernel_height + j) * kernel_width;
                for (int k = w.first, sw = w.last; k < kernel_width; k += stride_width, --sw) {
                    if (sw >= 0 && sw < width) {
                        acc += line[sw] * tap[k];
                    }
                }
            }
        }
    }
    const size_t plane = static_cast<size_t>(image) * channels + channel;
    y[((plane * out_depth + d.out) * out_height + h.out) * out_width + w.out] = acc;
}
