import Dispatch
import Glibc
import SwitchboardCall

@testable import SwitchboardHTTP2

/// A whole server, with its loop and its handlers, that is fed with what a client might send.
struct ServerUnderFuzz {
  /// One for the process: what an earlier input did to it must not matter.
  static let shared = Result { try ServerUnderFuzz() }

  private let server: Server
  private let loop: Loop

  private init() throws {
    let group = try LoopGroup()
    loop = group.loops[0]
    server = try Server(providers: [FuzzedService()], group: group)
  }

  private static let greeting = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8) + [0, 0, 0, 4, 0, 0, 0, 0, 0]
  /// More pieces would only take longer.
  private static let mostPieces = 16

  /// The first byte says how the rest is sent: after a greeting unless it is a multiple of four, and in pieces of a
  /// quarter of it.
  fileprivate func run(_ input: [UInt8]) throws {
    guard let first = input.first else { return }
    let client = try connect()
    defer { close(client) }
    if first % 4 != 0 { send(Self.greeting[...], to: client) }
    let rest = input.dropFirst()
    let size = max(Int(first / 4), rest.count / Self.mostPieces, 1)
    for start in stride(from: rest.startIndex, to: rest.endIndex, by: first < 4 ? max(1, rest.count) : size) {
      guard send(rest[start..<min(rest.endIndex, start + (first < 4 ? rest.count : size))], to: client) else {
        break
      }
      waitForTurn()
    }
    // Once more, so that handlers answer before the end is seen.
    waitForTurn()
    shutdown(client, Int32(SHUT_WR))
    try readToEnd(client)
  }

  private func connect() throws -> Int32 {
    var pair: [Int32] = [0, 0]
    guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0, &pair) == 0
    else {
      throw BrokenPromise(description: "no sockets are left: \(SocketError(errno: errno))")
    }
    let (core, loop, descriptor) = (server.core, loop, pair[1])
    _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
    loop.execute { core.accept(descriptor, .unix(path: ""), peer: nil, on: loop) }
    var patience = timeval(tv_sec: 10, tv_usec: 0)
    setsockopt(pair[0], SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
    return pair[0]
  }

  /// `false` once the server takes no more.
  @discardableResult
  private func send(_ bytes: ArraySlice<UInt8>, to client: Int32) -> Bool {
    var rest = bytes
    while !rest.isEmpty {
      let sent = rest.withUnsafeBytes { Glibc.send(client, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
      guard sent > 0 else { return false }
      rest = rest.dropFirst(sent)
    }
    return true
  }

  /// Returns once the loop has been through a turn, and so has read what was sent before.
  private func waitForTurn() {
    for _ in 0..<2 {
      let turned = DispatchSemaphore(value: 0)
      loop.execute { turned.signal() }
      turned.wait()
    }
  }

  private func readToEnd(_ client: Int32) throws {
    var piece = [UInt8](repeating: 0, count: 65536)
    while true {
      let count = recv(client, &piece, piece.count, 0)
      if count == 0 || count < 0 && errno == ECONNRESET { return }
      if count < 0 {
        throw BrokenPromise(description: "the server does not close the connection of a client that is gone")
      }
    }
  }
}

extension Result<ServerUnderFuzz, any Error> {
  func run(_ input: [UInt8]) throws { try get().run(input) }
}

/// One method of each kind, with short paths.
private struct FuzzedService: CallHandlerProvider {
  var serviceName: String { "f" }

  var methodHandlers: [any MethodHandler] {
    let bytes = BytesMarshaller()
    return [
      UnaryHandler(
        MethodDescriptor(service: "f", method: "U", type: .unary),
        requests: bytes,
        responses: bytes
      ) { request, context in
        context.setTrailers(context.headers)
        return request
      },
      ServerStreamingHandler(
        MethodDescriptor(service: "f", method: "S", type: .serverStreaming),
        requests: bytes,
        responses: bytes
      ) { request, responses, context in
        context.setCompression(.gzip)
        for byte in request.prefix(8) { try await responses.send([byte]) }
      },
      ClientStreamingHandler(
        MethodDescriptor(service: "f", method: "C", type: .clientStreaming),
        requests: bytes,
        responses: bytes
      ) { requests, _ in
        var all: [UInt8] = []
        for try await request in requests { all += request }
        return all
      },
      BidirectionalStreamingHandler(
        MethodDescriptor(service: "f", method: "B", type: .bidirectionalStreaming),
        requests: bytes,
        responses: bytes
      ) { requests, responses, _ in
        for try await request in requests { try await responses.send(request) }
      },
    ]
  }
}
