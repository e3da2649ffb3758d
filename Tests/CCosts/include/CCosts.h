#ifndef SWITCHBOARD_COSTS_H
#define SWITCHBOARD_COSTS_H

#include <stdbool.h>
#include <stdint.h>

/* What one thread has asked of the allocator and had copied, since it began. */
struct switchboard_costs {
  uint64_t allocations;
  uint64_t allocated_bytes;
  uint64_t copied_bytes;
};

/* Whether anything is counted. Sanitizers and the fuzzer have these functions for themselves, and only glibc lets a program
   replace them. */
bool switchboard_counts_costs(void);

/* The costs of the thread that asks. */
struct switchboard_costs switchboard_thread_costs(void);

#endif
