// Limits that NVRTC does not provide: it compiles without <cfloat> and <cmath>.
#pragma once

#ifndef FLT_MAX
#define FLT_MAX 3.402823466e+38f
#endif

#ifndef INFINITY
#define INFINITY __int_as_float(0x7f800000)
#endif
