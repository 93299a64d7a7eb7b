// Winograd's minimal filtering F(2 x 2, 3 x 3): the transforms of a 3 x 3 filter, of a 4 x 4 patch
// of the input, and of the products back to 2 x 2 outputs (Lavin and Gray, CVPR 2016, section 4.1).
#pragma once

__device__ __forceinline__ void winograd_filter(const float* g, float* u) {
    float rows[4][3];
    for (int j = 0; j < 3; ++j) {
        const float a = g[j], b = g[3 + j], c = g[6 + j];
        rows[0][j] = a;
        rows[1][j] = 0.5f * (a + b + c);
        rows[2][j] = 0.5f * (a - b + c);
        rows[3][j] = c;
    }
    for (int i = 0; i < 4; ++i) {
        const float a = rows[i][0], b = rows[i][1], c = rows[i][2];
        u[4 * i] = a;
        u[4 * i + 1] = 0.5f * (a + b + c);
        u[4 * i + 2] = 0.5f * (a - b + c);
        u[4 * i + 3] = c;
    }
}

__device__ __forceinline__ void winograd_input(float (&d)[4][4]) {
    for (int j = 0; j < 4; ++j) {
        const float d0 = d[0][j], d1 = d[1][j], d2 = d[2][j], d3 = d[3][j];
        d[0][j] = d0 - d2;
        d[1][j] = d1 + d2;
        d[2][j] = d2 - d1;
        d[3][j] = d1 - d3;
    }
    for (int i = 0; i < 4; ++i) {
        const float d0 = d[i][0], d1 = d[i][1], d2 = d[i][2], d3 = d[i][3];
        d[i][0] = d0 - d2;
        d[i][1] = d1 + d2;
        d[i][2] = d2 - d1;
        d[i][3] = d1 - d3;
    }
}

__device__ __forceinline__ void winograd_output(const float* m, float (&out)[2][2]) {
    float rows[2][4];
    for (int j = 0; j < 4; ++j) {
        rows[0][j] = m[j] + m[4 + j] + m[8 + j];
        rows[1][j] = m[4 + j] - m[8 + j] - m[12 + j];
    }
    for (int i = 0; i < 2; ++i) {
        out[i][0] = rows[i][0] + rows[i][1] + rows[i][2];
        out[i][1] = rows[i][1] - rows[i][2] - rows[i][3];
    }
}
