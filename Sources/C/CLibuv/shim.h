#include <uv.h>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#ifdef __linux__
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <unistd.h>
#endif

// Swift imports neither the socket types, which are both an enum and macros, nor accept4. A child process that another
// thread starts at the same time must not inherit a descriptor: it would keep a connection open that its owner has
// closed. Linux can create descriptors that way in one step.

static inline int switchboard_socket(int family, int type) {
#ifdef __linux__
  return socket(family, type | SOCK_CLOEXEC, 0);
#else
  int descriptor = socket(family, type, 0);
  if (descriptor >= 0) {
    fcntl(descriptor, F_SETFD, FD_CLOEXEC);
  }
  return descriptor;
#endif
}

static inline int switchboard_stream_socket(int family) { return switchboard_socket(family, SOCK_STREAM); }

static inline int switchboard_datagram_socket(int family) { return switchboard_socket(family, SOCK_DGRAM); }

static inline int switchboard_set_nonblocking(int descriptor) {
  return fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK);
}

static inline int switchboard_accept(int listener, struct sockaddr *address, socklen_t *length) {
#ifdef __linux__
  return (int)syscall(SYS_accept4, listener, address, length, SOCK_CLOEXEC);
#else
  int descriptor = accept(listener, address, length);
  if (descriptor >= 0) {
    fcntl(descriptor, F_SETFD, FD_CLOEXEC);
  }
  return descriptor;
#endif
}

// The maximum number of descriptors of the process; the type of this resource differs between systems.
static inline unsigned long long switchboard_descriptor_limit(void) {
  struct rlimit limit;
  return getrlimit(RLIMIT_NOFILE, &limit) == 0 ? limit.rlim_cur : ~0ULL;
}

// A descriptor that becomes readable at a time, to the nanosecond; -1 on systems that have none.

static inline int switchboard_alarm_open(void) {
#ifdef __linux__
  return timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
#else
  return -1;
#endif
}

// Zero switches it off.
static inline void switchboard_alarm_set(int descriptor, unsigned long long nanoseconds) {
#ifdef __linux__
  struct itimerspec time = {{0, 0}, {(time_t)(nanoseconds / 1000000000ULL), (long)(nanoseconds % 1000000000ULL)}};
  timerfd_settime(descriptor, 0, &time, 0);
#endif
}

static inline void switchboard_alarm_close(int descriptor) {
#ifdef __linux__
  close(descriptor);
#endif
}
