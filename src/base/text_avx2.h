/* text_avx2.h -- the AVX2 forms of the text kernels, or NULL where they cannot run. */
#ifndef MAKI_BASE_TEXT_AVX2_H
#define MAKI_BASE_TEXT_AVX2_H

#include "base/text.h"

const maki_text_kernels *maki_text_kernels_avx2(void);

#endif
