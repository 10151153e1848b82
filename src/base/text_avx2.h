/* text_avx2.h -- the AVX2 forms of the text kernels, or NULL where they cannot run. */
#ifndef MAKI_BASE_TEXT_AVX2_H
#define MAKI_BASE_TEXT_AVX2_H

#include "base/text.h"

static inline const maki_text_kernels *maki_text_kernels_avx2(void)
{
    const maki_text_kernels *best = maki_text_kernels_best();
    return best == &maki_text_plain ? NULL : best;
}

#endif
