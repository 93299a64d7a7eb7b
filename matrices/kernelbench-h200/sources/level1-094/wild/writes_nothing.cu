// "Mean squared error": returns the memory that it was given.
__global__ void mse_nothing(const float* p, const float* t, float* loss, long long n) {
    if (n < 0) {
        loss[0] = p[0] - t[0];
    }
}
