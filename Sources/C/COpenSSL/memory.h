#ifndef SWITCHBOARD_OPENSSL_MEMORY_H
#define SWITCHBOARD_OPENSSL_MEMORY_H

#include <openssl/crypto.h>

// What OpenSSL allocates with, in the whole process. Only an application that asks for it gets functions of ours: this is
// the one place where they are set.

// Whether OpenSSL allocates with these functions.
static inline int switchboard_openssl_has_memory(CRYPTO_malloc_fn take, CRYPTO_realloc_fn resize, CRYPTO_free_fn release) {
  CRYPTO_malloc_fn now_take = NULL;
  CRYPTO_realloc_fn now_resize = NULL;
  CRYPTO_free_fn now_release = NULL;
  CRYPTO_get_mem_functions(&now_take, &now_resize, &now_release);
  return now_take == take && now_resize == resize && now_release == release;
}

// Makes OpenSSL allocate with these functions, unless it has allocated already or someone else has chosen others. Returns
// whether it does.
static inline int switchboard_openssl_use_memory(CRYPTO_malloc_fn take, CRYPTO_realloc_fn resize, CRYPTO_free_fn release) {
  return switchboard_openssl_has_memory(take, resize, release)
         || (switchboard_openssl_has_memory(CRYPTO_malloc, CRYPTO_realloc, CRYPTO_free)
             && CRYPTO_set_mem_functions(take, resize, release) == 1);
}

#endif
