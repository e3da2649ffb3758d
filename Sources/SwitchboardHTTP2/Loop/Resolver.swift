import CLibuv

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// Resolves names on libuv's worker threads.
final class Resolver {
  typealias Completion = (Result<[SocketAddress], SocketError>) -> Void

  private let request = UnsafeMutablePointer<uv_getaddrinfo_t>.allocate(capacity: 1)
  private let port: Int
  private let completion: Completion

  private init(_ port: Int, _ completion: @escaping Completion) {
    self.port = port
    self.completion = completion
  }

  deinit { request.deallocate() }

  /// Resolves a name and calls `completion` later, on the loop.
  static func resolve(_ host: String, port: Int, on loop: Loop, _ completion: @escaping Completion) {
    guard !loop.hasEnded else { return completion(.failure(SocketError(UV_ECANCELED.rawValue))) }
    let resolver = Resolver(port, completion)
    let retained = Unmanaged.passRetained(resolver)
    resolver.request.pointee.data = retained.toOpaque()
    var hints = addrinfo()
    hints.ai_family = AF_UNSPEC
    hints.ai_socktype = 1  // SOCK_STREAM, which Swift imports differently on each system.
    let result = uv_getaddrinfo(
      loop.uv,
      resolver.request,
      { request, status, list in
        guard let data = request?.pointee.data else { return }
        Unmanaged<Resolver>.fromOpaque(data).takeRetainedValue().finish(status, list)
      },
      host,
      String(port),
      &hints
    )
    guard result != 0 else {
      loop.openHandles += 1
      return
    }
    retained.release()
    completion(.failure(SocketError(result)))
  }

  private func finish(_ status: Int32, _ list: UnsafeMutablePointer<addrinfo>?) {
    LoopThread.current?.openHandles -= 1
    defer { if let list { uv_freeaddrinfo(list) } }
    guard status == 0 else {
      // A lookup also fails if no descriptor is left for it, which the status does not say.
      let error = ProcessDescriptors.areLeft ? SocketError(status) : SocketError(errno: errno)
      return completion(.failure(error))
    }
    var addresses: [SocketAddress] = []
    var entry = list
    while let current = entry {
      if let address = current.pointee.ai_addr.flatMap({
        SocketAddress($0, count: Int(current.pointee.ai_addrlen))
      }) {
        addresses.append(address)
      }
      entry = current.pointee.ai_next
    }
    completion(.success(addresses))
  }
}
