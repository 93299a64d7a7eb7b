// A linear layer whose epilogue is fused: y = norm(clamp(silu(x w + bias) * scale + residual)).
// A thread makes four columns of a row; moments of each row's groups, the normalisation and a
// last clamp are launches of their own.

constexpr int kOwn = 4;
constexpr int kThreads = 64;

__device__ __forceinline__ float silu(float value) {
    return value / (1.0f + expf(-value));
}

__device__ __forceinline__ float softplus(float value) {
    return value > 20.0f ? value : log1pf(expf(value));
}

__device__ __forceinline__ float total_of(const float* parts, int group, int count) {
    float total = 0.0f;
    for (int p = 0; p < count; ++p) {
        total += parts[group * count + p];
    }
    return total;
}

__global__ void linear_fused(const float* __restrict__ x, const float* __restrict__ weight,
                             const float* __restrict__ bias, const float* __restrict__ scale,
                             const float* __restrict__ residual, float* __restrict__ mixed,
                             int rows, int depth, int cols) {
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    const int first = (blockIdx.x * blockDim.x + threadIdx.x) * kOwn;
    if (row >= rows) {
        return;
    }
    float acc[kOwn] = {};
    for (int k = 0; k < depth; ++k) {
        const float own = x[row * depth + k];
        for (int j = 0; j < kOwn; ++j) {
            if (first + j < cols) {
                acc[j] = fmaf(own, weight[k * cols + first + j], acc[j]);
            }
        }
    }
    for (int j = 0; j < kOwn; ++j) {
        const int col = first + j;
        if (col < cols) {
            acc[j] += bias[col];
            acc[j] = silu(acc[j]);
            acc[j] *= scale[col];
            float value = softplus(tanhf(acc[j])) + residual[row * cols + col];
            value = fmaxf(value, -1.0f);
            value += bias[col];
            mixed[row * cols + col] = value;
        }
    }
}

__global__ void group_sums(const float* __restrict__ mixed, float* __restrict__ sums,
                           float* __restrict__ squares, int size) {
    const float* own = mixed + static_cast<long long>(blockIdx.x) * size;
    float sum = 0.0f;
    float square = 0.0f;
    for (int i = threadIdx.x; i < size; i += kThreads) {
        sum += own[i];
        square += own[i] * own[i];
    }
    sums[blockIdx.x * kThreads + threadIdx.x] = sum;
    squares[blockIdx.x * kThreads + threadIdx.x] = square;
}

__global__ void group_norm(const float* __restrict__ mixed, const float* __restrict__ sums,
                           const float* __restrict__ squares, const float* __restrict__ gamma,
                           const float* __restrict__ beta, float* __restrict__ normed, int groups,
                           int size, float eps) {
    const int group = blockIdx.x;
    const float mean = total_of(sums, group, kThreads) / size;
    const float variance = total_of(squares, group, kThreads) / size - mean * mean;
    const float rstd = rsqrtf(variance + eps);
    for (int i = threadIdx.x; i < size; i += kThreads) {
        const int col = group % groups * size + i;
        float value = (mixed[group * size + i] - mean) * rstd;
        value *= gamma[col];
        value += beta[col];
        normed[group * size + i] = value;
    }
}

__global__ void clamp(const float* __restrict__ normed, float* __restrict__ y, int count,
                      float low, float high) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) {
        y[i] = fminf(fmaxf(normed[i], low), high);
    }
}
