// Instruction sets that a compiler uses by itself: GCC's name, and the macro that is 1 where code is compiled for it.
#pragma once

#define CONTINUA_INSTRUCTIONS(ONE)                                                                                  \
    ONE("sse3", __SSE3__) ONE("ssse3", __SSSE3__) ONE("sse4.1", __SSE4_1__) ONE("sse4.2", __SSE4_2__)                 \
    ONE("popcnt", __POPCNT__) ONE("avx", __AVX__) ONE("f16c", __F16C__) ONE("fma", __FMA__) ONE("avx2", __AVX2__)     \
    ONE("bmi", __BMI__) ONE("bmi2", __BMI2__) ONE("lzcnt", __LZCNT__) ONE("movbe", __MOVBE__)                         \
    ONE("sse4a", __SSE4A__) ONE("fma4", __FMA4__) ONE("xop", __XOP__) ONE("tbm", __TBM__)                             \
    ONE("avx512f", __AVX512F__) ONE("avx512cd", __AVX512CD__) ONE("avx512er", __AVX512ER__)                           \
    ONE("avx512pf", __AVX512PF__) ONE("avx512vl", __AVX512VL__) ONE("avx512bw", __AVX512BW__)                         \
    ONE("avx512dq", __AVX512DQ__) ONE("avx512ifma", __AVX512IFMA__) ONE("avx512vbmi", __AVX512VBMI__)                 \
    ONE("avx512vbmi2", __AVX512VBMI2__) ONE("avx512vnni", __AVX512VNNI__) ONE("avx512bitalg", __AVX512BITALG__)       \
    ONE("avx512vpopcntdq", __AVX512VPOPCNTDQ__) ONE("avx512bf16", __AVX512BF16__) ONE("avxvnni", __AVXVNNI__)         \
    ONE("gfni", __GFNI__)

extern "C" {
extern const bool continua_needed[];  // one per instruction set, in this order
PyObject* continua_core_init();       // the module itself, for processors that have them all
}
