#include "base/hash.h"

#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void
hash_sha256(const void *bytes, size_t count, char text[HASH_TEXT])
{
    static const char digits[] = "0123456789abcdef";
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned size;

    /* It fails only when OpenSSL has been configured without SHA-256 or memory is gone: no hash may
     * then be invented, since hashes name what is stored. */
    if (!EVP_Digest(bytes, count, digest, &size, EVP_sha256(), NULL) || size != 32) {
        fputs("hone: libcrypto refuses to compute a SHA-256\n", stderr);
        abort();
    }
    for (size_t i = 0; i < size; i++) {
        text[2 * i] = digits[digest[i] >> 4];
        text[2 * i + 1] = digits[digest[i] & 15];
    }
    text[HASH_TEXT - 1] = '\0';
}

/* The finalizer of MurmurHash3: every input bit reaches every output bit. */
static uint64_t
scramble(uint64_t x)
{
    x = (x ^ (x >> 33)) * 0xff51afd7ed558ccdULL;
    x = (x ^ (x >> 33)) * 0xc4ceb9fe1a85ec53ULL;
    return x ^ (x >> 33);
}

uint64_t
hash_mix(uint64_t seed, const void *bytes, size_t count)
{
    const char *rest = bytes;
    uint64_t hash = seed ^ (count * 0x9e3779b97f4a7c15ULL);
    uint64_t word;

    for (; count >= sizeof word; count -= sizeof word, rest += sizeof word) {
        memcpy(&word, rest, sizeof word);
        hash = scramble(hash + 0x9e3779b97f4a7c15ULL) ^ word;
    }
    word = 0;
    if (count > 0)
        memcpy(&word, rest, count);
    return scramble(scramble(hash + 0x9e3779b97f4a7c15ULL) ^ word);
}
