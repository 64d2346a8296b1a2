/* What every kernel begins with: names of types, and how a kernel tells Python what it takes. */
#ifndef DAWA_KERNELS_H
#define DAWA_KERNELS_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

typedef int64_t i64;
typedef uint64_t u64;
typedef uint32_t u32;
typedef int32_t i32;
typedef uint16_t u16;
typedef uint8_t u8;
typedef double f64;
typedef float f32;

#if defined(_WIN32)
#define SHOWN __declspec(dllexport)
#else
#define SHOWN __attribute__((visibility("default")))
#endif

/* Every kernel is compiled for any processor of its kind; where wider registers may be there, once more for these. */
#ifdef WIDE
#define NAMED(name) name##_wide
#else
#define NAMED(name) name
#endif

/* KERNEL(f64, mean, i64 n, const f64 *values) { … } defines a function that Python can call, and beside it a text,
 * mean_takes, that says what it takes: native.py checks every call by it. So no list of declarations can be wrong. */
#define KERNEL(result, name, ...)                                                    \
    SHOWN const char NAMED(name##_takes)[] = #result " " #name "(" #__VA_ARGS__ ")"; \
    SHOWN result NAMED(name)(__VA_ARGS__)

/* At the beginning of a block: sums may be reordered there and products fused, so that they use wide registers. */
#define REORDER _Pragma("clang fp reassociate(on) contract(fast)")

static inline i64 imin(i64 a, i64 b) { return a < b ? a : b; }
static inline i64 imax(i64 a, i64 b) { return a > b ? a : b; }
static inline f64 dmin(f64 a, f64 b) { return a < b ? a : b; }
static inline f64 dmax(f64 a, f64 b) { return a > b ? a : b; }

#endif
