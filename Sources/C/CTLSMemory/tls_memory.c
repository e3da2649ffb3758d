#include "CTLSMemory.h"

#include <stdlib.h>
#include <string.h>

static _Thread_local switchboard_loan *current;

void switchboard_loan_begin(switchboard_loan *loan) { current = loan; }

void switchboard_loan_end(void) { current = NULL; }

static bool is_lent(const void *block) { return current != NULL && block == current->memory; }

// As OpenSSL's own functions: no block for no bytes.

void *switchboard_tls_malloc(size_t count, const char *file, int line) {
  (void)file;
  (void)line;
  if (count == 0) {
    return NULL;
  }
  if (current != NULL && current->isOffered) {
    current->isOffered = false;
    if (count <= current->room) {
      return current->memory;
    }
  }
  return malloc(count);
}

void switchboard_tls_free(void *block, const char *file, int line) {
  (void)file;
  (void)line;
  if (!is_lent(block)) {
    free(block);
  }
}

void *switchboard_tls_realloc(void *block, size_t count, const char *file, int line) {
  if (block == NULL) {
    return switchboard_tls_malloc(count, file, line);
  }
  if (count == 0) {
    switchboard_tls_free(block, file, line);
    return NULL;
  }
  if (!is_lent(block)) {
    return realloc(block, count);
  }
  void *moved = malloc(count);
  if (moved != NULL) {
    memcpy(moved, block, count < current->room ? count : current->room);
  }
  return moved;
}
