// 0.5 x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))), threads striding through all elements.

__global__ void gelu_of_mingpt(const float* x, float* y, int count) {
    const float root = 0.7978845608f;
    for (size_t i = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count;
         i += static_cast<size_t>(gridDim.x) * blockDim.x) {
        const float value = x[i];
        const float inner = root * (value + 0.044715f * (value * value * value));
        y[i] = 0.5f * value * (1.0f + tanhf(inner));
    }
}
