// Stands in front of the allocator, and of the functions that copy memory, for the whole program that it is linked to: for
// the shared libraries, too. Counters are each thread's own, so that tests may run at the same time.
#define _GNU_SOURCE
#include "CCosts.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define SANITIZED 1
#endif
#endif

static _Thread_local struct switchboard_costs costs;

struct switchboard_costs switchboard_thread_costs(void) { return costs; }

#if defined(__GLIBC__) && !defined(SANITIZED)

#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>

bool switchboard_counts_costs(void) { return true; }

// MARK: Allocating

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *block, size_t size);
void *__libc_memalign(size_t alignment, size_t size);

static void count_allocation(size_t size) {
  costs.allocations += 1;
  costs.allocated_bytes += size;
}

void *malloc(size_t size) {
  count_allocation(size);
  return __libc_malloc(size);
}

void *calloc(size_t count, size_t size) {
  count_allocation(count * size);
  return __libc_calloc(count, size);
}

void *realloc(void *block, size_t size) {
  count_allocation(size);
  return __libc_realloc(block, size);
}

void *memalign(size_t alignment, size_t size) {
  count_allocation(size);
  return __libc_memalign(alignment, size);
}

void *aligned_alloc(size_t alignment, size_t size) { return memalign(alignment, size); }

int posix_memalign(void **block, size_t alignment, size_t size) {
  if (alignment < sizeof(void *) || (alignment & (alignment - 1)) != 0) return EINVAL;
  *block = memalign(alignment, size);
  return *block == NULL ? ENOMEM : 0;
}

// MARK: Copying

typedef void *copy_function(void *, const void *, size_t);

static copy_function *libc_memmove;
static copy_function *libc_memcpy;

// Before there are other threads. What copies earlier, the dynamic linker among it, has the loop below.
__attribute__((constructor(101))) static void find_functions(void) {
  libc_memmove = (copy_function *)dlsym(RTLD_NEXT, "memmove");
  libc_memcpy = (copy_function *)dlsym(RTLD_NEXT, "memcpy");
}

// The attribute keeps the compiler from making a call of `memmove` of this.
__attribute__((no_builtin)) static void *copy_slowly(void *to, const void *from, size_t count) {
  volatile unsigned char *target = to;
  const volatile unsigned char *source = from;
  if ((uintptr_t)target <= (uintptr_t)source) {
    for (size_t index = 0; index < count; index += 1) target[index] = source[index];
  } else {
    for (size_t index = count; index > 0; index -= 1) target[index - 1] = source[index - 1];
  }
  return to;
}

void *memmove(void *to, const void *from, size_t count) {
  costs.copied_bytes += count;
  return libc_memmove ? libc_memmove(to, from, count) : copy_slowly(to, from, count);
}

void *memcpy(void *restrict to, const void *restrict from, size_t count) {
  costs.copied_bytes += count;
  return libc_memcpy ? libc_memcpy(to, from, count) : copy_slowly(to, from, count);
}

#else

bool switchboard_counts_costs(void) { return false; }

#endif
