// Replaces the C library's clock functions in the whole program, including its libraries: the linker prefers symbols of
// the program.

#include "CFaultClock.h"

#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include <atomic>

static std::atomic<long long> moved{0};

extern "C" {

void fault_clock_move(long long seconds) { moved += seconds; }

int clock_gettime(clockid_t clock, struct timespec *time) noexcept {
  long result = syscall(SYS_clock_gettime, clock, time);
  if (result == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE || clock == CLOCK_TAI))
    time->tv_sec += moved;
  return static_cast<int>(result);
}

int gettimeofday(struct timeval *time, void *) noexcept {
  struct timespec now;
  if (clock_gettime(CLOCK_REALTIME, &now) != 0) return -1;
  time->tv_sec = now.tv_sec;
  time->tv_usec = now.tv_nsec / 1000;
  return 0;
}

time_t time(time_t *result) noexcept {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  if (result) *result = now.tv_sec;
  return now.tv_sec;
}
}
