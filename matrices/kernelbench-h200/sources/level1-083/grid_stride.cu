// Depthwise convolution with a column of taps, one output an iteration of a grid-stride loop over
// the whole output. The taps are the rows below: they lie one width apart.

__global__ void depthwise_grid_stride(const float* __restrict__ x,
                                      const float* __restrict__ weight, float* __restrict__ y,
                                      int batch, int channels, int height, int width,
                                      int out_height, int kernel) {
    const int plane_size = out_height * width;
    const long long total = static_cast<long long>(batch) * channels * plane_size;
    const long long step = static_cast<long long>(gridDim.x) * blockDim.x;
    for (long long i = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x; i < total;
         i += step) {
        const long long plane = i / plane_size;
        const int within = i - plane * plane_size;
        const float* source = x + plane * height * width + within;
        const float* filter = weight + plane % channels * kernel;
        float sum = 0.0f;
        for (int k = 0; k < kernel; ++k) {
            sum += source[k * width] * filter[k];
        }
        y[i] = sum;
    }
}
