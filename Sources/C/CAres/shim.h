#include <ares.h>

#include <fcntl.h>
#include <sys/socket.h>

// Swift does not import the socket types, which are both an enum and macros. Non-blocking, and not inherited by child
// processes; Linux can create a socket that way in one step.
static inline int switchboard_dns_socket(int family, int type, int protocol) {
#ifdef __linux__
  return socket(family, type | SOCK_NONBLOCK | SOCK_CLOEXEC, protocol);
#else
  int descriptor = socket(family, type, protocol);
  if (descriptor >= 0) {
    fcntl(descriptor, F_SETFD, FD_CLOEXEC);
    fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK);
  }
  return descriptor;
#endif
}

static inline int switchboard_is_stream(int type) { return type == SOCK_STREAM; }
