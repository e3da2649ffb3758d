import CLibuv

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
    Unmanaged<ConnectAttempt>.fromOpaque(data).takeRetainedValue().finish(status)
  }

  private func start(_ address: SocketAddress) {
    guard !loop.hasEnded else { return fail(UV_ECANCELED.rawValue) }
    switch address.kind {
    case .ip: connectTCP(address)
    case .unix(let path): connectPipe(path)
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

  private func connectPipe(_ path: String) {
    let pipe = UnsafeMutablePointer<uv_pipe_t>.allocate(capacity: 1)
    uv_pipe_init(loop.uv, pipe, 0)
    socket = Socket(
      loop: loop,
      adopting: UnsafeMutableRawPointer(pipe).assumingMemoryBound(to: uv_stream_t.self)
    )
    _ = Unmanaged.passRetained(self)
    // This function also reports errors to the callback.
    uv_pipe_connect(request, pipe, path, Self.connected)
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
