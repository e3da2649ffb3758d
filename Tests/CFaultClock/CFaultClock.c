// The system's clock functions, in place of the C library's for the whole program that this is linked into, its
// libraries included: the linker prefers what the program itself defines.

#define _GNU_SOURCE
#include "CFaultClock.h"

#include <stdatomic.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static _Atomic long long moved = 0;

void fault_clock_move(long long seconds) { atomic_fetch_add(&moved, seconds); }

int clock_gettime(clockid_t clock, struct timespec *time) {
  long result = syscall(SYS_clock_gettime, clock, time);
  if (result == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE || clock == CLOCK_TAI))
    time->tv_sec += atomic_load(&moved);
  return (int)result;
}

int gettimeofday(struct timeval *restrict time, void *restrict zone) {
  (void)zone;
  struct timespec now;
  if (clock_gettime(CLOCK_REALTIME, &now) != 0) return -1;
  time->tv_sec = now.tv_sec;
  time->tv_usec = now.tv_nsec / 1000;
  return 0;
}

time_t time(time_t *result) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  if (result) *result = now.tv_sec;
  return now.tv_sec;
}
