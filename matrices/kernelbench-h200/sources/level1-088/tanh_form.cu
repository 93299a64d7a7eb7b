// y = x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))) / 2, four elements a load and one load a
// thread; the thread behind the last vector takes what is left. A cube that overflows is an
// infinity, whose tanh is right.

constexpr float kRoot = 0.79788456080286535588f;
constexpr float kCubic = 0.044715f;

__device__ __forceinline__ float gelu(float value) {
    const float inner = kRoot * (value + kCubic * value * value * value);
    return 0.5f * value * (1.0f + tanhf(inner));
}

__global__ void mingpt_gelu_tanh(const float* __restrict__ x, float* __restrict__ y, long long n) {
    const long long first = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
    const long long n4 = n / 4;
    if (first < n4) {
        const float4* x4 = reinterpret_cast<const float4*>(x);
        float4* y4 = reinterpret_cast<float4*>(y);
        const float4 v = x4[first];
        y4[first] = make_float4(gelu(v.x), gelu(v.y), gelu(v.z), gelu(v.w));
    } else if (first == n4) {
        for (long long i = n4 * 4; i < n; ++i) {
            y[i] = gelu(x[i]);
        }
    }
}
