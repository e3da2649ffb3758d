#include "CTicks.h"

#include <stdio.h>
#include <string.h>

#if defined(__x86_64__)
#include <cpuid.h>

// Bit 8: the count neither stops nor changes its pace when the processor saves power.
static int is_invariant(void) {
  unsigned eax, ebx, ecx, edx;
  return __get_cpuid(0x80000007, &eax, &ebx, &ecx, &edx) && (edx >> 8 & 1);
}

// Whether the system itself measures time by the count: it has compared that of all processors, and watches it.
static int is_trusted(void) {
#if defined(__linux__)
  char name[16] = {0};
  FILE *file = fopen("/sys/devices/system/clocksource/clocksource0/current_clocksource", "re");
  if (file == NULL) return 0;
  size_t count = fread(name, 1, sizeof name - 1, file);
  fclose(file);
  return count >= 3 && strncmp(name, "tsc", 3) == 0 && (name[3] == '\n' || name[3] == 0);
#else
  return 0;
#endif
}

int switchboard_ticks_are_steady(void) { return is_invariant() && is_trusted(); }
#elif defined(__aarch64__)
// The architecture requires it of its generic timer.
int switchboard_ticks_are_steady(void) { return 1; }
#else
int switchboard_ticks_are_steady(void) { return 0; }
#endif
