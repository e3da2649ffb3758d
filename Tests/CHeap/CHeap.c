#include "CHeap.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define HEAP_IS_REPLACED 1
#endif
#endif

#if defined(__GLIBC__) || defined(__linux__)
#include <malloc.h>
#endif

#if defined(__GLIBC__) && !defined(HEAP_IS_REPLACED) && (__GLIBC__ > 2 || __GLIBC_MINOR__ >= 33)

bool heap_is_counted(void) { return true; }

size_t heap_in_use(void) {
  struct mallinfo2 all = mallinfo2();
  return all.uordblks + all.hblkhd;
}

#else

bool heap_is_counted(void) { return false; }

size_t heap_in_use(void) { return 0; }

#endif
