// unsafe: state confined to the loop; bytes that the socket lends for one read

import SwitchboardCall
import SwitchboardNetwork

/// One POST request over HTTP/1.1, on a separate connection. Telemetry uses it a few times per minute to export to a
/// collector.
package final class HTTPPost: @unchecked Sendable {
  // Sendable because everything that changes is used on the loop only.
  package typealias Headers = [(String, String)]

  private let loop: Loop
  private let host: String
  private let port: Int
  private let context: TLSContext?
  private let timeout: Duration
  private let request: [UInt8]

  private var lookup: NameQuery?
  private var connector: Connector?
  private var socket: Socket?
  private var tls: TLSFilter?
  private var timer: LoopTimer?
  private var unsent: [UInt8] = []
  private var parser = HTTPAnswerParser()
  private var continuation: CheckedContinuation<Result<HTTPAnswer, GRPCStatus>, Never>?
  private var hasSent = false
  private var hasRead = false
  private var isCancelled = false

  /// The headers are valid, and none that this writes itself: see `FieldSyntax`. With `isCompressed`, the body is compressed by gzip if that makes it smaller. `tls`
  /// is `nil` for plaintext.
  package init(
    to host: String,
    port: Int,
    path: String,
    _ headers: Headers,
    _ body: [UInt8],
    isCompressed: Bool = false,
    tls: ClientTLS?,
    timeout: Duration,
    on loop: Loop
  ) throws(GRPCStatus) {
    self.loop = loop
    self.host = host
    self.port = port
    self.timeout = timeout
    context = try tls.map { options throws(GRPCStatus) in
      try TLSContext(client: try options.provided(), serverName: host, versions: ["http/1.1"])
    }
    let name = host.contains(":") ? "[\(host)]" : host
    var head = "POST \(path.isEmpty ? "/" : path) HTTP/1.1\r\nhost: \(name):\(port)\r\nconnection: close\r\n"
    var body = body
    if isCompressed {
      let compressed = Compressor.compress(MessageBuffer(body), .gzip)
      if compressed.isCompressed {
        body = compressed.withBytes { $0.withUnsafeBytes { Array($0) } }
        head += "content-encoding: gzip\r\n"
      }
    }
    head += "content-length: \(body.count)\r\n"
    for (name, value) in headers { head += "\(name): \(value)\r\n" }
    request = Array((head + "\r\n").utf8) + body
  }

  /// Sends the request and returns the response, whatever its status. Call it once.
  package func send() async throws(GRPCStatus) -> HTTPAnswer {
    let result = await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        loop.execute { self.start(continuation) }
      }
    } onCancel: {
      loop.execute {
        self.isCancelled = true
        self.finish(.failure(GRPCStatus(code: .cancelled, message: "the request was cancelled")))
      }
    }
    return try result.get()
  }

  // MARK: On the loop

  private func start(_ continuation: CheckedContinuation<Result<HTTPAnswer, GRPCStatus>, Never>) {
    self.continuation = continuation
    guard !isCancelled, !loop.hasEnded else {
      return finish(.failure(GRPCStatus(code: .cancelled, message: "the request was cancelled")))
    }
    let timer = LoopTimer { self.finish(.failure(.noAnswer(from: self.host, within: self.timeout))) }
    self.timer = timer
    loop.schedule(timer, after: timeout)
    lookup = loop.names.addresses(of: host, port: port) { result in
      self.lookup = nil
      switch result {
      case .success(let answer): self.connect(answer.addresses)
      case .failure(let status): self.finish(.failure(status))
      }
    }
  }

  private func connect(_ addresses: [SocketAddress]) {
    guard continuation != nil else { return }
    let connector = Connector(addresses, on: loop) { result in
      switch result {
      case .success(let connected): self.begin(connected.socket)
      case .failure(let error):
        self.finish(.failure(error.status("cannot connect to \(self.host):\(self.port)")))
      }
    }
    self.connector = connector
    connector.start()
  }

  private func begin(_ socket: Socket) {
    guard continuation != nil else { return socket.close() }
    self.socket = socket
    socket.delegate = self
    if let context {
      guard let tls = TLSFilter(context) else { return fail(.resourceExhausted, "no memory for TLS") }
      self.tls = tls
      if case .failed(let status) = tls.handshake() { return finish(.failure(status)) }
      socket.startReading()
      return flushTLS()
    }
    socket.startReading()
    write(request)
  }

  private func write(_ bytes: [UInt8]) {
    unsent += bytes
    guard let socket, !unsent.isEmpty, !socket.isWriting else { return }
    let output = loop.takeOutput()
    unsent.withUnsafeBytes { output.append($0) }
    unsent = []
    guard let tls else { return socket.write(output) }
    let encrypted = loop.takeOutput()
    let failure = tls.send(output, into: encrypted)
    loop.giveBack(output)
    socket.write(encrypted)
    if let failure { finish(.failure(failure)) }
  }

  private func flushTLS() {
    guard let tls, let socket, tls.pendingByteCount > 0, !socket.isWriting else { return }
    let output = loop.takeOutput()
    tls.takePending(into: output)
    socket.write(output)
  }

  private func take(_ progress: HTTPAnswerParser.Progress) {
    switch progress {
    case .more: break
    case .whole(let answer): finish(.success(answer))
    case .invalid: finish(.failure(.answerIsNotHTTP1))
    }
  }

  private func fail(_ code: GRPCStatus.Code, _ reason: String) {
    finish(.failure(GRPCStatus(code: code, message: reason, origin: .peer)))
  }

  private func finish(_ result: Result<HTTPAnswer, GRPCStatus>) {
    guard let continuation else { return }
    self.continuation = nil
    if let timer { loop.cancel(timer) }
    timer = nil
    lookup?.cancel()
    lookup = nil
    connector?.cancel()
    connector = nil
    let socket = socket
    self.socket = nil
    socket?.close()
    continuation.resume(returning: result)
  }
}

extension HTTPPost: SocketDelegate {
  package func socketDidRead(_ bytes: UnsafeRawBufferPointer) {
    guard continuation != nil else { return }
    if !hasRead {
      hasRead = true
      let speaksTLS = PeerProtocol(firstBytes: bytes) == .tls
      if speaksTLS != (tls != nil) {
        return finish(.failure(speaksTLS ? .serverSpeaksTLS : .serverSpeaksNoTLS))
      }
    }
    guard let tls else { return take(parser.take(bytes)) }
    let received = tls.receive(bytes, buffer: loop.plaintextBuffer) { event in
      switch event {
      case .becameSecure: break
      case .plaintext(let bytes): take(parser.take(bytes))
      }
      return continuation != nil
    }
    guard continuation != nil else { return }
    switch received {
    case .open: break
    case .ended: return take(parser.end())
    case .failed(let status): return finish(.failure(status))
    }
    flushTLS()
    if tls.isSecure { write(takeRequest()) }
  }

  /// The request, once.
  private func takeRequest() -> [UInt8] {
    guard !hasSent else { return [] }
    hasSent = true
    return request
  }

  package func socketDidEnd(_ error: SocketError?) {
    guard error == nil else { return fail(.unavailable, "the connection broke") }
    if parser.hasBegun {
      take(parser.end())
    } else {
      fail(.unavailable, "the connection ended without an answer\(tls == nil ? ": it may require TLS" : "")")
    }
  }

  package func socketDidDrain() {
    flushTLS()
    write([])
  }
}

extension GRPCStatus {
  fileprivate static func noAnswer(from host: String, within timeout: Duration) -> GRPCStatus {
    GRPCStatus(
      code: .deadlineExceeded,
      message: "no answer from \(host) within \(timeout.readable)",
      origin: .library
    )
  }

  package static let answerIsNotHTTP1 = GRPCStatus(
    code: .internalError,
    message: "the answer is not HTTP/1.1",
    origin: .peer
  )
}
