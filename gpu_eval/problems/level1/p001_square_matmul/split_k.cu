// C = A B with the reduction split over blockIdx.z; partial products go to a workspace of
// splits x n x n and are added by a second kernel.

__global__ void matmul_partial(const float* __restrict__ a, const float* __restrict__ b,
                               float* __restrict__ partial, int n, int length) {
    const int col = blockIdx.x * blockDim.x + threadIdx.x;
    const int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= n || col >= n) {
        return;
    }
    const int begin = blockIdx.z * length;
    const int end = min(begin + length, n);
    float acc = 0.0f;
    for (int k = begin; k < end; ++k) {
        acc += a[row * n + k] * b[k * n + col];
    }
    partial[(static_cast<long long>(blockIdx.z) * n + row) * n + col] = acc;
}

__global__ void matmul_combine(const float* __restrict__ partial, float* __restrict__ c,
                               int elements, int splits) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= elements) {
        return;
    }
    float total = partial[i];
    for (int s = 1; s < splits; ++s) {
        total += partial[static_cast<long long>(s) * elements + i];
    }
    c[i] = total;
}
