/* SHA-256, as 64 lower-case hex digits; and a fast 64-bit hash for tables within the process. */
#ifndef HONE_BASE_HASH_H
#define HONE_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

#define HASH_TEXT 65 /* bytes, with the zero */

void
hash_sha256(const void *bytes, size_t count, char text[HASH_TEXT]);

/* Not stable between versions: never stored. Chain by passing the previous result as seed. */
uint64_t
hash_mix(uint64_t seed, const void *bytes, size_t count);

#endif
