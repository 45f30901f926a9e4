/* What `//! flags` may add for cpu. Nothing here names a file, a program or the linker, and nothing
 * moves code: alignment, -march and -fopenmp are fixed. A test gives every row to gcc. */
#include "target/target_int.h"

#define EXACT(text)                    \
    {                                  \
        text, TARGET_FLAG_EXACT, "", 0 \
    }
#define SWITCH(text)                    \
    {                                   \
        text, TARGET_FLAG_SWITCH, "", 0 \
    }
#define CHOICE(text, values)                \
    {                                       \
        text, TARGET_FLAG_CHOICE, values, 0 \
    }
#define PARAM(name, most)                                 \
    {                                                     \
        "--param=" name "=", TARGET_FLAG_NUMBER, "", most \
    }

const struct target_flag target__cpu_flags[] = {
    EXACT("-O1"),
    EXACT("-O2"),
    EXACT("-O3"),
    EXACT("-Ofast"),

    SWITCH("-ffast-math"),
    SWITCH("-fassociative-math"),
    SWITCH("-fcx-limited-range"),
    SWITCH("-ffinite-math-only"),
    SWITCH("-fmath-errno"),
    SWITCH("-freciprocal-math"),
    SWITCH("-frounding-math"),
    SWITCH("-fsigned-zeros"),
    SWITCH("-fsingle-precision-constant"),
    SWITCH("-ftrapping-math"),
    SWITCH("-funsafe-math-optimizations"),
    CHOICE("-ffp-contract=", "fast off on"),
    EXACT("-mrecip"),

    SWITCH("-floop-interchange"),
    SWITCH("-floop-unroll-and-jam"),
    SWITCH("-fpeel-loops"),
    SWITCH("-fprefetch-loop-arrays"),
    SWITCH("-fsplit-loops"),
    SWITCH("-ftree-loop-distribute-patterns"),
    SWITCH("-ftree-loop-distribution"),
    SWITCH("-ftree-loop-im"),
    SWITCH("-ftree-loop-vectorize"),
    SWITCH("-ftree-slp-vectorize"),
    SWITCH("-ftree-vectorize"),
    SWITCH("-funroll-all-loops"),
    SWITCH("-funroll-loops"),
    SWITCH("-funswitch-loops"),
    SWITCH("-fversion-loops-for-strides"),
    CHOICE("-fvect-cost-model=", "unlimited dynamic cheap very-cheap"),
    CHOICE("-fsimd-cost-model=", "unlimited dynamic cheap"),
    CHOICE("-mprefer-vector-width=", "none 128 256 512"),
    EXACT("-mno-avx"), /* less than -march=native offers, never more */
    EXACT("-mno-avx2"),
    EXACT("-mno-avx512f"),
    EXACT("-mno-fma"),

    SWITCH("-fgcse"),
    SWITCH("-fgcse-after-reload"),
    SWITCH("-finline"),
    SWITCH("-finline-functions"),
    SWITCH("-finline-small-functions"),
    SWITCH("-fipa-cp-clone"),
    SWITCH("-fivopts"),
    SWITCH("-fjump-tables"),
    SWITCH("-fmodulo-sched"),
    SWITCH("-fomit-frame-pointer"),
    SWITCH("-fpredictive-commoning"),
    SWITCH("-frename-registers"),
    SWITCH("-fsched-pressure"),
    SWITCH("-fschedule-insns"),
    SWITCH("-fschedule-insns2"),
    SWITCH("-fsplit-paths"),
    SWITCH("-fstrict-aliasing"),
    SWITCH("-ftree-partial-pre"),
    SWITCH("-ftree-pre"),
    SWITCH("-fweb"),
    SWITCH("-fwrapv"),

    PARAM("max-unroll-times", 64),
    PARAM("max-unrolled-insns", 10000),
    PARAM("max-average-unrolled-insns", 10000),
    PARAM("max-completely-peel-times", 256),
    PARAM("max-completely-peeled-insns", 10000),
    PARAM("max-inline-insns-auto", 10000),
    PARAM("max-inline-insns-single", 10000),
    PARAM("min-vect-loop-bound", 1024),
    PARAM("prefetch-latency", 10000),
    PARAM("simultaneous-prefetches", 1024),
    PARAM("unroll-jam-max-unroll", 64),
    PARAM("unroll-jam-min-percent", 100),
    PARAM("vect-epilogues-nomask", 1),
    PARAM("vect-max-version-for-alias-checks", 256),
    {0},
};
