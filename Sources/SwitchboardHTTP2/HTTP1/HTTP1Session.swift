import SwitchboardCall

/// A connection that speaks HTTP/1.1: calls of gRPC-Web, one after the other.
///
/// ```
///   idle ──first byte──> head ──blank line──> exchange ──response sent, request whole──> idle
///     └──idleTimeout──┐    └──headersTimeout──┐    └──response sent, request not whole, or to close──┐
///                     └───────────────────────┴───────────────────────────────────────────────> closed
/// ```
/// An exchange drives a `ServerCallStream` as an HTTP/2 session would.
final class HTTP1Session {
  // Unchecked exclusivity: confined to the connection's loop. The connection owns this object, so it outlives it.
  private unowned let connection: ServerConnection
  @exclusivity(unchecked) private var parser: HTTP1Parser
  @exclusivity(unchecked) private var stream: ServerCallStream?
  @exclusivity(unchecked) private var requestIsWhole = false
  @exclusivity(unchecked) private var response = Response.none
  /// The output before a body: lines of headers.
  @exclusivity(unchecked) private var unsent: [UInt8] = []
  /// Bytes of the next request that arrived before this exchange ended.
  @exclusivity(unchecked) private var held: [UInt8] = []
  @exclusivity(unchecked) private var closesAfter = false
  /// The request was invalid: only an error response and the close remain.
  @exclusivity(unchecked) private(set) var isOver = false
  @exclusivity(unchecked) private var timer: LoopTimer?
  @exclusivity(unchecked) private var timesHead = false
  private let idleTimeout: Duration

  private enum Response {
    /// The response has not started.
    case none
    /// The headers are to be sent, without a body.
    case headOnly
    case body
    case sent
  }

  /// How many bytes after a request are kept. If a client sends more, the connection is closed after the response.
  private static let heldLimit = 64 * 1024
  private static let chunkLimit = 16 * 1024

  init(_ connection: ServerConnection, idleTimeout: Duration) {
    self.connection = connection
    self.idleTimeout = idleTimeout
    parser = HTTP1Parser(headLimit: connection.options.maxMetadataSize + 8192)
  }

  /// Whether a header section was started and is incomplete.
  var isInsideHead: Bool { parser.isInsideHead }

  // MARK: Reading

  func receive(_ bytes: UnsafeRawBufferPointer) {
    var rest = bytes
    while !isOver {
      if stream != nil, requestIsWhole { return hold(rest) }
      switch parser.next(&rest) {
      case .incomplete: return watchClock()
      case .head(let head): open(head)
      case .body(let piece): stream?.receiveData(piece)
      case .end:
        requestIsWhole = true
        stream?.remoteDidEnd()
      case .refused(let refusal): refuse(refusal)
      }
    }
  }

  private func hold(_ bytes: UnsafeRawBufferPointer) {
    guard held.count + bytes.count <= Self.heldLimit else {
      held = []
      closesAfter = true
      return
    }
    if !closesAfter { held += bytes }
  }

  private func open(_ head: HTTP1RequestHead) {
    stopTimer()
    connection.didOpen()
    let stream = ServerCallStream(connection, isRefused: false, isHTTP1: true)
    stream.id = 1
    _ = connection.session.streams.insert(stream)
    self.stream = stream
    requestIsWhole = !head.hasBody
    closesAfter = closesAfter || head.closes
    let fields = connection.session.fields
    fields.begin()
    give(stream, Array(":method".utf8), head.method, fields)
    give(stream, Array(":path".utf8), head.path, fields)
    for field in head.fields { give(stream, field.name, field.value, fields) }
    stream.headersDidEnd(endsStream: requestIsWhole, fields)
    if head.expectsContinue, head.hasBody { unsent += "HTTP/1.1 100 \r\n\r\n".utf8 }
  }

  private func give(_ stream: ServerCallStream, _ name: [UInt8], _ value: [UInt8], _ fields: FieldCollector) {
    name.withUnsafeBufferPointer { name in
      value.withUnsafeBufferPointer { value in stream.receiveHeader(name, value, fields) }
    }
  }

  /// The streams of rejected requests end when the connection closes.
  private func refuse(_ refusal: HTTP1Refusal) {
    stopTimer()
    isOver = true
    connection.report(refusal.abuse)
    guard response == .none else { return }
    unsent += "HTTP/1.1 \(refusal.status) \r\ncontent-length: 0\r\nconnection: close\r\n\r\n".utf8
  }

  // MARK: Flow control

  /// Called when the handler has no room for the bytes of a request, or has room again.
  func settle(hasRoom: Bool) {
    if hasRoom { connection.socket.resumeReading() } else { connection.socket.pauseReading() }
  }

  // MARK: Writing

  /// Sends a response with the session's `headers`.
  func respond(hasBody: Bool) {
    guard response == .none else { return }
    response = hasBody ? .body : .headOnly
    if !requestIsWhole { closesAfter = true }
    var status: [UInt8] = []
    var fields: [UInt8] = []
    connection.session.headers.forEachField { name, value in
      guard name.first != UInt8(ascii: ":") else {
        status += value
        return
      }
      fields += name
      fields += ": ".utf8
      fields += value
      fields += "\r\n".utf8
    }
    unsent += "HTTP/1.1 ".utf8
    unsent += status
    unsent += " \r\n".utf8
    unsent += fields
    if hasBody {
      unsent += "transfer-encoding: chunked\r\n".utf8
    } else if !status.elementsEqual("204".utf8) {
      unsent += "content-length: 0\r\n".utf8
    }
    if closesAfter { unsent += "connection: close\r\n".utf8 }
    unsent += "\r\n".utf8
  }

  /// Writes pending output, up to about `limit` bytes.
  func drain(into output: OutputBuffer, limit: Int) -> Session.Drained {
    unsent.withUnsafeBytes { output.append($0) }
    unsent.removeAll(keepingCapacity: true)
    guard let stream else { return .all }
    if response == .headOnly { responseDidEnd(stream) }
    while response == .body {
      guard output.byteCount < limit else { return .some }
      guard drainBody(of: stream, into: output) else { return .all }
    }
    return .all
  }

  /// Returns `false` if there is nothing to send for now.
  private func drainBody(of stream: ServerCallStream, into output: OutputBuffer) -> Bool {
    withUnsafeTemporaryAllocation(byteCount: Self.chunkLimit, alignment: 1) { buffer in
      switch stream.readBody(into: buffer) {
      case .copied(let count):
        appendChunk(UnsafeRawBufferPointer(rebasing: buffer[..<count]), to: output)
      case .borrowed(let count, _):
        guard let (message, bytes) = stream.takeBorrowed(count) else { return false }
        append("\(String(count, radix: 16))\r\n", to: output)
        output.append(message, bytes)
        append("\r\n", to: output)
      case .wait:
        return false
      case .last(let count):
        appendChunk(UnsafeRawBufferPointer(rebasing: buffer[..<count]), to: output)
        append("0\r\n\r\n", to: output)
        responseDidEnd(stream)
      }
      return true
    }
  }

  /// An empty chunk would end the body.
  private func appendChunk(_ bytes: UnsafeRawBufferPointer, to output: OutputBuffer) {
    guard !bytes.isEmpty else { return }
    append("\(String(bytes.count, radix: 16))\r\n", to: output)
    output.append(bytes)
    append("\r\n", to: output)
  }

  private func append(_ text: String, to output: OutputBuffer) {
    var text = text
    text.withUTF8 { output.append(UnsafeRawBufferPointer($0)) }
  }

  private func responseDidEnd(_ stream: ServerCallStream) {
    response = .sent
    stream.localDidEnd()
  }

  // MARK: Between exchanges

  /// Called when all output was written: ends the exchange, if it is complete, and starts the next.
  func didDrain() {
    guard response == .sent, let stream else { return }
    self.stream = nil
    closesAfter = closesAfter || !requestIsWhole
    connection.session.streams.remove(Unmanaged.passUnretained(stream).toOpaque()).didClose(0)
    guard !closesAfter else { return connection.close(.exchangesOver, gently: true) }
    response = .none
    requestIsWhole = false
    // The previous request may have had bytes that its handler did not read.
    settle(hasRoom: true)
    watchClock()
    guard !held.isEmpty else { return }
    let next = held
    held = []
    next.withUnsafeBytes { connection.receiveHeld($0) }
  }

  /// Accepts no further requests.
  func drainConnection() {
    closesAfter = true
    if stream == nil { connection.close(.serverStopped, gently: true) }
  }

  /// Limits the time for a header section, and the idle time.
  private func watchClock() {
    guard stream == nil, !isOver else { return }
    let isInsideHead = parser.isInsideHead
    guard timer == nil || isInsideHead != timesHead else { return }
    stopTimer()
    timesHead = isInsideHead
    let timer = LoopTimer { [unowned self] in timeIsOver() }
    self.timer = timer
    connection.loop.schedule(timer, after: isInsideHead ? connection.headersTimeout : idleTimeout)
  }

  private func timeIsOver() {
    timer = nil
    guard timesHead else { return connection.close(.exchangesOver, gently: true) }
    refuse(HTTP1Refusal("408", .slowHeaders))
    connection.endHTTP1()
  }

  /// The connection is gone, and with it its stream. A reference to the stream would keep both in memory.
  func connectionDidClose() {
    stopTimer()
    isOver = true
    stream = nil
  }

  private func stopTimer() {
    guard let timer else { return }
    connection.loop.cancel(timer)
    self.timer = nil
  }
}

extension GRPCStatus {
  static let exchangesOver = GRPCStatus(
    code: .unavailable,
    message: "the connection of HTTP/1.1 has served its calls",
    origin: .library
  )
}
