#ifndef SWITCHBOARD_TICKS_H
#define SWITCHBOARD_TICKS_H

#include <stdint.h>

// The processor's count of time, which a program reads without the system's help, in a quarter to a half of the time that
// the system's clock takes. Swift cannot read it.

static inline uint64_t switchboard_ticks(void) {
#if defined(__x86_64__)
  return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
  uint64_t ticks;
  __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
  return ticks;
#else
  return 0;
#endif
}

/// Whether the count grows steadily and is the same on all processors.
int switchboard_ticks_are_steady(void);

#endif
