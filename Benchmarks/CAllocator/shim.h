#ifndef SWITCHBOARD_ALLOCATOR_SHIM_H
#define SWITCHBOARD_ALLOCATOR_SHIM_H

#include <stdlib.h>

/* How many bytes were allocated and not freed; zero where the C library does not say. */
#ifdef __GLIBC__
#include <malloc.h>
static inline size_t switchboard_allocated_bytes(void) {
  struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
}
#else
static inline size_t switchboard_allocated_bytes(void) { return 0; }
#endif

#endif
