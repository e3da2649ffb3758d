// Replaces the C library's allocator in the whole program, including its libraries: the linker prefers symbols of the
// program. It counts what is allocated, whether or not it is touched, as the kernel does with vm.overcommit_memory=2.

#include "CRefusingHeap.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define HEAP_IS_REPLACED 1
#endif
#endif

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#if defined(__GLIBC__) && !defined(HEAP_IS_REPLACED)

#include <malloc.h>

// What glibc calls its own functions.
extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);
extern void __libc_free(void *);

static _Atomic size_t held = 0;
static _Atomic size_t most = SIZE_MAX;
static _Atomic size_t largest_block = SIZE_MAX;

void heap_refuse(size_t more, size_t largest) {
  largest_block = largest;
  most = held + more;
}

// Counts bytes that are about to be held. Returns false, and counts nothing, if they are too many.
static bool take(size_t count) {
  if (count <= largest_block && atomic_fetch_add(&held, count) + count <= most) return true;
  if (count <= largest_block) held -= count;
  errno = ENOMEM;
  return false;
}

// Counts a block in place of the size that was counted for it.
static void *counted(void *block, size_t taken) {
  held += (block ? malloc_usable_size(block) : 0) - taken;
  return block;
}

void *malloc(size_t size) { return take(size) ? counted(__libc_malloc(size), size) : NULL; }

void *calloc(size_t count, size_t size) {
  size_t all;
  if (__builtin_mul_overflow(count, size, &all)) all = SIZE_MAX / 2;
  return take(all) ? counted(__libc_calloc(count, size), all) : NULL;
}

void *memalign(size_t alignment, size_t size) {
  return take(size) ? counted(__libc_memalign(alignment, size), size) : NULL;
}

void *aligned_alloc(size_t alignment, size_t size) { return memalign(alignment, size); }

int posix_memalign(void **result, size_t alignment, size_t size) {
  void *block = memalign(alignment, size);
  if (!block) return ENOMEM;
  *result = block;
  return 0;
}

void free(void *block) {
  if (block) held -= malloc_usable_size(block);
  __libc_free(block);
}

void *realloc(void *block, size_t size) {
  if (!block) return malloc(size);
  if (size == 0) {
    free(block);
    return NULL;
  }
  // Both blocks exist while one is copied to the other.
  size_t before = malloc_usable_size(block);
  if (!take(size)) return NULL;
  void *result = __libc_realloc(block, size);
  held -= result ? before : 0;
  return counted(result, size);
}

#else

void heap_refuse(size_t more, size_t largest) {
  (void)more;
  (void)largest;
}

#endif
