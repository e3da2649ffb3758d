#ifndef SWITCHBOARD_TLS_MEMORY_H
#define SWITCHBOARD_TLS_MEMORY_H

#include <stdbool.h>
#include <stddef.h>

// What OpenSSL allocates with: the system's functions, except that one block may lie in memory that the caller lends.
// OpenSSL does not say for whom it allocates, and Swift has no thread-local variables.

typedef struct {
  void *_Nonnull memory;
  size_t room;
  /// Whether the first block may still be taken: only that one is, and only if it fits.
  bool isOffered;
} switchboard_loan;

/// Until the end, the calling thread's first block lies in the loan's memory, which is not freed.
void switchboard_loan_begin(switchboard_loan *_Nonnull loan);
void switchboard_loan_end(void);

void *_Nullable switchboard_tls_malloc(size_t count, const char *_Nullable file, int line);
void *_Nullable switchboard_tls_realloc(void *_Nullable block, size_t count, const char *_Nullable file, int line);
void switchboard_tls_free(void *_Nullable block, const char *_Nullable file, int line);

#endif
