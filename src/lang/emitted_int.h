/* The files of emitted/ as text (generated emitted.c). */
#ifndef HONE_LANG_EMITTED_INT_H
#define HONE_LANG_EMITTED_INT_H

extern const char emitted_values[];
extern const char emitted_numbers[];
extern const char emitted_functions[];
extern const char emitted_choices[];
extern const char emitted_reductions[];
extern const char emitted_vectors[];
extern const char emitted_vector_sums[];
extern const char emitted_bf16[];

#endif
