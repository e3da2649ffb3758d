// unsafe: request bytes that the socket lends for one read
// trap: unowned: its connection owns the session, and nothing else retains it

import SwitchboardCall
import SwitchboardNetwork

/// The connection of a client, as its session of HTTP/1.1 needs it.
protocol HTTP1ClientConnection: Connection {
  /// Makes no more calls, and closes once those under way have ended.
  func retire(_ reason: GRPCStatus?)
}

/// A client's connection that speaks HTTP/1.1: one call at a time.
///
/// ```
///   idle ──submitRequest──> exchange ──request sent, response whole──> idle
///                              └──response whole before the request, or to close──> closed
/// ```
/// An exchange drives a stream as an HTTP/2 session would. A response belongs to the request that was written
/// last, because nothing in it says so. So the server may send nothing before it has the head of a request, and nothing
/// after its response: what it sends else would become the response of another call.
final class HTTP1ClientSession<Side: HTTP1ClientConnection>: HTTPClientSession, HTTP1Side {
  // Unchecked exclusivity: confined to the connection's loop. The connection owns this object, so it outlives it.
  unowned let connection: Side
  @exclusivity(unchecked) private var parser: HTTP1ResponseParser
  @exclusivity(unchecked) private var stream: (any SessionStream)?
  @exclusivity(unchecked) var output = HTTP1Output()
  @exclusivity(unchecked) var memory = PackableMemory(in: nil)
  /// The head of a request.
  @exclusivity(unchecked) private var unsent: [UInt8] = []
  @exclusivity(unchecked) private var requestIsSent = true
  /// Whether the head of the request was passed to the socket, so that there may be a response.
  @exclusivity(unchecked) private var headIsSent = false
  @exclusivity(unchecked) private var closesAfter = false
  /// The server has broken a rule, such as to send what no request asked for. Nothing more is sent.
  @exclusivity(unchecked) private var isBroken = false
  @exclusivity(unchecked) private var lastID: Int32 = -1
  @exclusivity(unchecked) private(set) var lastRequestSent: Int32 = 0
  /// How many informational responses came before the response.
  @exclusivity(unchecked) private var informationCount = 0

  /// Servers send one or two.
  private static var informationLimit: Int { 100 }

  init(_ connection: Side, headLimit: Int) {
    self.connection = connection
    parser = HTTP1ResponseParser(headLimit: headLimit + 8192)
  }

  var incompleteHeaders: Int { parser.incompleteHead }

  // MARK: Requests

  var requestLimit: Int { isBroken ? 0 : 1 }

  static func connectionLimit(_ options: ChannelOptions) -> Int { options.maxHTTP1Connections }

  func submitRequest<Stream: SessionStream>(_ stream: Stream, hasBody: Bool) -> Bool {
    use()
    lastID += 2
    stream.id = lastID
    _ = connection.parts.streams.insert(stream)
    self.stream = stream
    requestIsSent = false
    headIsSent = false
    informationCount = 0
    output = HTTP1Output(isChunked: hasBody)
    var line = (method: [UInt8](), path: [UInt8](), authority: [UInt8]())
    var fields: [UInt8] = []
    connection.headers.forEachField { name, value in
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
    // What is not sent to a broken server can be sent to another one.
    guard let stream, !requestIsSent, !isBroken else { return .all }
    if !unsent.isEmpty {
      // What has arrived before the request is read first, and cannot be taken for the response.
      guard !connection.socket.hasUnread else { return .all }
      unsent.withUnsafeBytes { output.append($0) }
      unsent = []
      headIsSent = true
      lastRequestSent = stream.id
    }
    while !requestIsSent {
      guard output.byteCount < limit else { return .some }
      switch appendBody(of: stream, to: output) {
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

  func receive(_ bytes: UnsafeRawBufferPointer, now: UInt64) -> Offense? {
    use()
    var rest = bytes
    guard let stream, headIsSent else { return breakOff() }
    while true {
      var isWhole = false
      switch parser.next(&rest) {
      case .incomplete: return nil
      case .head(let head) where head.isInformational:
        informationCount += 1
        guard informationCount <= Self.informationLimit else {
          return Offense(abuse: .informationFlood, code: .enhanceYourCalm)
        }
      case .head(let head):
        take(head, for: stream)
        isWhole = !head.hasBody
      case .body(let piece): stream.receiveData(piece)
      case .end:
        stream.remoteDidEnd()
        isWhole = true
      case .broken: return Offense(abuse: .protocolViolation, code: .protocolError)
      }
      guard isWhole else { continue }
      let offense = rest.isEmpty ? nil : breakOff()
      // The next call may begin here, whose response these bytes are not.
      finish(stream)
      return offense
    }
  }

  /// Accepts no more requests, because the server has sent what is not a response.
  private func breakOff() -> Offense {
    isBroken = true
    return Offense(abuse: .protocolViolation, code: .protocolError, explanation: .unrequestedBytes)
  }

  private func take(_ head: HTTP1ResponseParser.Head, for stream: any SessionStream) {
    closesAfter = closesAfter || head.closes
    let fields = connection.parts.fields
    fields.begin()
    give(stream, Array(":status".utf8), head.status, fields)
    for field in head.fields { give(stream, field.name, field.value, fields) }
    stream.headersDidEnd(endsStream: !head.hasBody, fields)
  }

  private func give(_ stream: any SessionStream, _ name: [UInt8], _ value: [UInt8], _ fields: FieldCollector)
  {
    name.withUnsafeBufferPointer { name in
      value.withUnsafeBufferPointer { value in stream.receiveHeader(name, value, fields) }
    }
  }

  /// Ends the exchange, and may begin the next. If the request was not sent completely, the connection cannot be reused.
  private func finish(_ stream: any SessionStream) {
    self.stream = nil
    connection.parts.streams.remove(stream)
    closesAfter = closesAfter || !requestIsSent
    // The offense of a broken connection closes it.
    if closesAfter, !isBroken { connection.retire(nil) }
    // Reading may be paused because the reader has not read everything.
    resumeReading()
    stream.didClose(0)
  }

  func resumeReading() { connection.socket.resumeReading() }

  /// There is no way to tell the server.
  func terminate(_ offense: Offense, _ reason: StaticString?) { isBroken = true }

  /// A response without a length ends with the connection. Over TLS, only a proper close by the server counts, because
  /// anyone between the two could cut the connection.
  func connectionDidClose() {
    if let stream, parser.endsWithConnection, connection.closeReason == .connectionLost,
      connection.tls?.peerHasEnded ?? true
    {
      stream.remoteDidEnd()
      self.stream = nil
      connection.parts.streams.end(stream, 0)
    }
    stream = nil
    connection.parts.streams.endAll()
  }

  func memoryWasPacked() { freeHeads() }
}

extension GRPCStatus {
  static let unrequestedBytes = GRPCStatus(
    code: .unavailable,
    message: "the server sent bytes over HTTP/1.1 that belong to no request",
    origin: .peer
  )
}
