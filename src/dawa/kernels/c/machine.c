/* What the processor can do: native.py asks once, and calls the kernels that were compiled for it. */
#include "kernels.h"

#if defined(__x86_64__)
#include <cpuid.h>

enum { FMA = 1 << 12, MOVBE = 1 << 22, OSXSAVE = 1 << 27, AVX = 1 << 28, F16C = 1 << 29 };
enum { BMI1 = 1 << 3, AVX2 = 1 << 5, BMI2 = 1 << 8 };
enum { LZCNT = 1 << 5 };

/* Whether registers of 32 bytes and fused products can be used (x86-64-v3), and the system saves them. */
KERNEL(i64, machine_is_wide, void) {
    u32 a, b, c, d;
    const u32 basic = FMA | MOVBE | OSXSAVE | AVX | F16C, more = BMI1 | AVX2 | BMI2;
    if (!__get_cpuid(1, &a, &b, &c, &d) || (c & basic) != basic) return 0;
    if (!__get_cpuid_count(7, 0, &a, &b, &c, &d) || (b & more) != more) return 0;
    if (!__get_cpuid(0x80000001, &a, &b, &c, &d) || !(c & LZCNT)) return 0;
    u32 saved;
    __asm__("xgetbv" : "=a"(saved) : "c"(0) : "edx");
    return (saved & 6) == 6;
}
#else
KERNEL(i64, machine_is_wide, void) { return 0; }
#endif
