// unsafe: libuv: handles owned by one object, callbacks on its own thread; memory of sessions, within bounds
//   that it checks

import CLibuv

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// One attempt to connect to one address.
final class ConnectAttempt: @unchecked Sendable {
  // Sendable because it is used only on the loop.
  typealias Completion = (Result<Socket, SocketError>) -> Void

  private let request = UnsafeMutablePointer<uv_connect_t>.allocate(capacity: 1)
  let address: SocketAddress
  private let loop: Loop
  private var socket: Socket?
  private var completion: Completion?

  init(_ address: SocketAddress, on loop: Loop, _ completion: @escaping Completion) {
    self.address = address
    self.loop = loop
    self.completion = completion
    request.pointee.data = Unmanaged.passUnretained(self).toOpaque()
    start(address)
  }

  deinit { request.deallocate() }

  /// Cancels the attempt; the completion is not called.
  func cancel() {
    completion = nil
    socket?.close()
    socket = nil
  }

  private static let connected: uv_connect_cb = { request, status in
    guard let data = request?.pointee.data else { return }
    let attempt = Unmanaged<ConnectAttempt>.fromOpaque(data).takeRetainedValue()
    attempt.loop.eventDidCome()
    attempt.finish(status)
  }

  private func start(_ address: SocketAddress) {
    guard !loop.hasEnded else { return fail(UV_ECANCELED.rawValue) }
    switch address.kind {
    case .ip: connectTCP(address)
    case .unix, .unixAbstract: connectUnix(address)
    }
  }

  private func connectTCP(_ address: SocketAddress) {
    let tcp = UnsafeMutablePointer<uv_tcp_t>.allocate(capacity: 1)
    uv_tcp_init(loop.uv, tcp)
    uv_tcp_nodelay(tcp, 1)
    socket = Socket(
      loop: loop,
      adopting: UnsafeMutableRawPointer(tcp).assumingMemoryBound(to: uv_stream_t.self)
    )
    // The callback releases this reference; it is always called, even if the attempt is cancelled.
    let retained = Unmanaged.passRetained(self)
    let result = address.withSockaddr { sockaddr, _ in uv_tcp_connect(request, tcp, sockaddr, Self.connected)
    }
    guard result != 0 else { return }
    retained.release()
    fail(result)
  }

  /// Does not use `uv_pipe_connect`, which does not support abstract names. A Unix socket connects at once or not at
  /// all.
  private func connectUnix(_ address: SocketAddress) {
    let descriptor = switchboard_stream_socket(AF_UNIX)
    guard descriptor >= 0 else { return fail(-errno) }
    _ = switchboard_set_nonblocking(descriptor)
    let result = address.withSockaddr { sockaddr, length in connect(descriptor, sockaddr, length) }
    guard result == 0 else {
      let error = -errno
      close(descriptor)
      return fail(error)
    }
    guard let socket = Socket.adopt(descriptor, address.kind, on: loop) else {
      return fail(UV_ENOMEM.rawValue)
    }
    self.socket = socket
    // Deferred, because the completion must not run within `init`.
    loop.execute { self.finish(0) }
  }

  private func finish(_ status: Int32) {
    guard status == 0 else { return fail(status) }
    guard let completion, let socket else { return }
    self.completion = nil
    self.socket = nil
    completion(.success(socket))
  }

  /// Never called in `init`: the owner must have the attempt before its completion runs.
  private func fail(_ code: Int32) {
    socket?.close()
    socket = nil
    loop.execute { [self] in
      completion?(.failure(SocketError(code)))
      completion = nil
    }
  }
}
