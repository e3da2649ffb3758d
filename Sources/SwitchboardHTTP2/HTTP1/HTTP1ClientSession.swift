import SwitchboardCall

/// A client's connection that speaks HTTP/1.1: one call at a time.
///
/// ```
///   idle ──submitRequest──> exchange ──request sent, response whole──> idle
///                              └──response whole before the request, or to close──> closed
/// ```
/// An exchange drives a `ClientCallStream` as an HTTP/2 session would.
final class HTTP1ClientSession: WireSession {
  // Unchecked exclusivity: confined to the connection's loop. The connection owns this object, so it outlives it.
  private unowned let connection: ClientConnection
  @exclusivity(unchecked) private var parser: HTTP1ResponseParser
  @exclusivity(unchecked) private var stream: ClientCallStream?
  @exclusivity(unchecked) private var output = HTTP1Output()
  /// The head of a request.
  @exclusivity(unchecked) private var unsent: [UInt8] = []
  @exclusivity(unchecked) private var requestIsSent = true
  @exclusivity(unchecked) private var hasResponse = false
  @exclusivity(unchecked) private var closesAfter = false
  @exclusivity(unchecked) private var lastID: Int32 = -1
  /// How many informational responses came before the response.
  @exclusivity(unchecked) private var informationCount = 0

  /// Servers send one or two.
  private static let informationLimit = 100

  init(_ connection: ClientConnection, headLimit: Int) {
    self.connection = connection
    parser = HTTP1ResponseParser(headLimit: headLimit + 8192)
  }

  var isInsideHeaders: Bool { parser.isInsideHead }
  var unsentFrames: Int { 0 }

  // MARK: Requests

  var requestLimit: Int { 1 }

  func submitRequest(_ stream: ClientCallStream, hasBody: Bool) -> Bool {
    lastID += 2
    stream.id = lastID
    _ = connection.session.streams.insert(stream)
    self.stream = stream
    requestIsSent = false
    hasResponse = false
    informationCount = 0
    output.isChunked = hasBody
    var line = (method: [UInt8](), path: [UInt8](), authority: [UInt8]())
    var fields: [UInt8] = []
    connection.session.headers.forEachField { name, value in
      if name.equals(":method") {
        line.method = Array(value)
        return
      }
      if name.equals(":path") {
        line.path = Array(value)
        return
      }
      if name.equals(":authority") {
        line.authority = Array(value)
        return
      }
      guard name.first != UInt8(ascii: ":"), !name.equals("te") else { return }
      if name.equals("content-length") { output.isChunked = false }
      fields += name
      fields += ": ".utf8
      fields += value
      fields += "\r\n".utf8
    }
    unsent += line.method + " ".utf8 + line.path + " HTTP/1.1\r\nhost: ".utf8 + line.authority + "\r\n".utf8
    unsent += fields
    if output.isChunked { unsent += "transfer-encoding: chunked\r\n".utf8 }
    unsent += "\r\n".utf8
    return true
  }

  func cancelRequest(_ id: Int32) -> GRPCStatus? { .exchangesOver }

  func finishRequests() -> GRPCStatus? { .exchangesOver }

  func drain(into output: OutputBuffer, limit: Int) -> Drained {
    guard let stream, !requestIsSent else { return .all }
    if !unsent.isEmpty {
      unsent.withUnsafeBytes { output.append($0) }
      unsent = []
      connection.session.requestWasSent(stream.id)
    }
    while !requestIsSent {
      guard output.byteCount < limit else { return .some }
      switch self.output.append(bodyOf: stream, to: output) {
      case .some: break
      case .wait: return .all
      case .end:
        requestIsSent = true
        stream.localDidEnd()
      }
    }
    return .all
  }

  // MARK: Responses

  func receive(_ bytes: UnsafeRawBufferPointer, now: UInt64) -> Offence? {
    var rest = bytes
    while true {
      // The server sent more than the response.
      guard let stream else {
        return rest.isEmpty ? nil : Offence(abuse: .protocolViolation, code: .protocolError)
      }
      switch parser.next(&rest) {
      case .incomplete: return nil
      case .head(let head) where head.isInformational:
        informationCount += 1
        guard informationCount <= Self.informationLimit else {
          return Offence(abuse: .informationFlood, code: .enhanceYourCalm)
        }
      case .head(let head): take(head, for: stream)
      case .body(let piece): stream.receiveData(piece)
      case .end: responseDidEnd(stream)
      case .broken: return Offence(abuse: .protocolViolation, code: .protocolError)
      }
    }
  }

  private func take(_ head: HTTP1ResponseParser.Head, for stream: ClientCallStream) {
    hasResponse = true
    closesAfter = closesAfter || head.closes
    let fields = connection.session.fields
    fields.begin()
    give(stream, Array(":status".utf8), head.status, fields)
    for field in head.fields { give(stream, field.name, field.value, fields) }
    stream.headersDidEnd(endsStream: !head.hasBody, fields)
    if !head.hasBody { finish(stream) }
  }

  private func give(_ stream: ClientCallStream, _ name: [UInt8], _ value: [UInt8], _ fields: FieldCollector) {
    name.withUnsafeBufferPointer { name in
      value.withUnsafeBufferPointer { value in stream.receiveHeader(name, value, fields) }
    }
  }

  private func responseDidEnd(_ stream: ClientCallStream) {
    stream.remoteDidEnd()
    finish(stream)
  }

  /// Ends the exchange. If the request was not sent completely, the connection cannot be reused.
  private func finish(_ stream: ClientCallStream) {
    self.stream = nil
    _ = connection.session.streams.remove(Unmanaged.passUnretained(stream).toOpaque())
    closesAfter = closesAfter || !requestIsSent
    unsent = []
    if closesAfter { connection.retire() }
    // Reading may be paused because the reader has not read everything.
    connection.socket.resumeReading()
    stream.didClose(0)
  }

  // MARK: Flow control, as on the server

  func settle(arrived byteCount: Int, credit: Int, on id: Int32) {
    if credit > 0 { connection.socket.resumeReading() } else { connection.socket.pauseReading() }
  }

  func settle(released byteCount: Int, on id: Int32) { connection.socket.resumeReading() }
  func forget(_ byteCount: Int) { connection.socket.resumeReading() }

  // MARK: What only servers do

  func stopRequest(_ id: Int32) {}
  func submitResponse(_ stream: StreamEntry) {}
  func submitTrailersOnly(_ stream: StreamEntry) {}
  func abandonResponse(_ id: Int32) {}

  // MARK: The rest

  /// The flush that follows asks the stream for its body.
  func resume(_ id: Int32) {}

  var refusalOfHeaders: GRPCStatus? { nil }
  var headerListLimit: Int { .max }

  func didDrain(isWriting: Bool) -> WireEnd? { nil }
  func announceDrain() {}
  func confirmDrain() {}

  func checkSilence(
    _ keepalive: inout Keepalive,
    now: UInt64,
    lastRead: UInt64,
    isWriting: Bool
  ) -> Keepalive.Action { .wait(keepalive.interval) }

  func terminate(_ offence: Offence, _ reason: StaticString?) {}

  /// A response without a length ends with the connection. Over TLS, only a proper close by the server counts, because
  /// anyone between the two could cut the connection.
  func connectionDidClose() {
    if let stream, parser.endsWithConnection, connection.closeReason == .connectionLost,
      connection.tls?.peerHasEnded ?? true
    {
      stream.remoteDidEnd()
      self.stream = nil
      _ = connection.session.streams.remove(Unmanaged.passUnretained(stream).toOpaque())
      stream.didClose(0)
    }
    stream = nil
    connection.session.connectionDidClose()
  }
}
