#include <uv.h>

#include <fcntl.h>
#include <sys/socket.h>

// Swift sees neither the socket types, which are both an enum and macros, nor accept4.

static inline int switchboard_stream_socket(int family) {
  int descriptor = socket(family, SOCK_STREAM, 0);
  if (descriptor >= 0) {
    fcntl(descriptor, F_SETFD, FD_CLOEXEC);
  }
  return descriptor;
}

static inline int switchboard_set_nonblocking(int descriptor) {
  return fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK);
}

static inline int switchboard_accept(int listener, struct sockaddr *address, socklen_t *length) {
  int descriptor = accept(listener, address, length);
  if (descriptor >= 0) {
    fcntl(descriptor, F_SETFD, FD_CLOEXEC);
  }
  return descriptor;
}
