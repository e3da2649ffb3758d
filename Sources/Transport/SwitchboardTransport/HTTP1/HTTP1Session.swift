// unsafe: request bytes that the socket lends for one read
// trap: unowned: its connection owns the session, and nothing else retains it

import SwitchboardCall
import SwitchboardNetwork

/// The connection of a server, as its session of HTTP/1.1 needs it.
protocol HTTP1ServerConnection: Connection {
  associatedtype Stream: HTTP1ServerStream

  /// Whether the server has more handlers than it may have.
  var hasTooManyHandlers: Bool { get }

  /// Makes the stream of a request.
  func openStream() -> Stream

  /// Frees what is remembered of the last call.
  func forgetKnownCall()
}

/// The stream of a request, as a session of HTTP/1.1 needs it.
protocol HTTP1ServerStream: SessionStream {
  /// Whether a handler runs.
  var isHandling: Bool { get }
  /// Whether the answer needs no body.
  var ignoresBody: Bool { get }
}

/// A connection that speaks HTTP/1.1: requests in protocols other than gRPC, one after the other.
///
/// ```
///   idle ──first byte──> head ──blank line──> exchange ──response sent, request whole──> idle
///     └──idleTimeout──┐    └──headersTimeout──┐    └──response sent, request not whole, or to close──┐
///                     └───────────────────────┴───────────────────────────────────────────────> closed
/// ```
/// An exchange drives a stream as an HTTP/2 session would. What arrives during one is held. `drain` serves
/// held requests as long as their responses are ready at once, so that those that arrived together leave together.
final class HTTP1Session<Side: HTTP1ServerConnection>: HTTPServerSession, HTTP1Side {
  // Unchecked exclusivity: confined to the connection's loop. The connection owns this object, so it outlives it.
  unowned let connection: Side
  @exclusivity(unchecked) private var parser: HTTP1Parser
  @exclusivity(unchecked) private(set) var stream: Side.Stream?
  // Side by side, because an idle connection keeps them: each alone would take eight bytes.
  @exclusivity(unchecked) private(set) var requestIsWhole = false
  /// Whether reading stopped until held requests were served, or the client reads.
  @exclusivity(unchecked) private var waitsForRoom = false
  @exclusivity(unchecked) private var closesAfter = false
  /// The request was invalid: only an error response and the close remain.
  @exclusivity(unchecked) private(set) var isOver = false
  /// Whether the client has ended its side, and waits for the responses to the requests before.
  @exclusivity(unchecked) var isHalfClosed = false
  @exclusivity(unchecked) private var response = Response.none
  @exclusivity(unchecked) var output = HTTP1Output()
  @exclusivity(unchecked) var memory = PackableMemory(in: nil)
  /// The output before a body: lines of headers.
  @exclusivity(unchecked) private var unsent: [UInt8] = []
  /// Bytes of further requests that arrived before this exchange ended.
  @exclusivity(unchecked) private var held = HeldBytes()
  /// Why a held request ends the connection, until `drain` says so.
  @exclusivity(unchecked) private var offense: Offense?
  @exclusivity(unchecked) var idleTimer: LoopTimer?
  /// When the last exchange ended.
  @exclusivity(unchecked) var idleSince: UInt64 = 0
  let idleTimeout: Duration
  /// How many held requests were served in the loop's turn `servedTurn`.
  @exclusivity(unchecked) private var servedCount = 0
  @exclusivity(unchecked) private var servedTurn: UInt64 = 0

  private enum Response {
    /// The response has not started.
    case none
    /// The headers are to be sent, without a body.
    case headOnly
    case body
    case sent
  }

  /// An estimate of the room for the status line and the connection's own fields.
  private static var usualExtra: Int { 128 }

  /// How many bytes after a request are kept. If a client sends more while a handler runs, the connection is closed after
  /// the response. Otherwise the connection stops reading, and keeps what it has read.
  private static var heldLimit: Int { 64 * 1024 }

  /// How many held requests are served in one turn of the loop. The others wait until other connections had their turn.
  private static var servedLimit: Int { 16 }

  init(_ connection: Side, headLimit: Int, idleTimeout: Duration) {
    self.connection = connection
    self.idleTimeout = idleTimeout
    parser = HTTP1Parser(headLimit: headLimit + 8192)
  }

  /// Whether a whole request has arrived that was not answered yet.
  var owesResponse: Bool { stream == nil ? !held.isEmpty : requestIsWhole }

  var incompleteHeaders: Int { parser.incompleteHead }

  // MARK: Reading

  func receive(_ bytes: UnsafeRawBufferPointer, now: UInt64) -> Offense? {
    use()
    var rest = bytes
    // Bytes that arrive after held requests wait for these, and those after a request without a response wait for that.
    let offense = held.isEmpty ? read(&rest) : nil
    if !rest.isEmpty { hold(rest) }
    return offense
  }

  /// Reads until the bytes end or a request is whole, and removes what it read.
  private func read(_ rest: inout UnsafeRawBufferPointer) -> Offense? {
    while !isOver {
      if stream != nil, requestIsWhole { return nil }
      switch parser.next(&rest) {
      case .incomplete:
        watchIdleness()
        return nil
      case .head(let head):
        guard !connection.hasTooManyHandlers else {
          refuse("503")
          return Offense(abuse: .tooManyHandlers, code: .enhanceYourCalm)
        }
        open(head)
      case .body(let piece): stream?.receiveData(piece)
      case .end:
        requestIsWhole = true
        stream?.remoteDidEnd()
      case .refused(let refusal):
        refuse(refusal.status)
        return Offense(abuse: refusal.abuse, code: .protocolError)
      }
    }
    return nil
  }

  private func hasRoom(for byteCount: Int = 0) -> Bool {
    held.count + byteCount <= Self.heldLimit
  }

  /// Reads on, unless `drain` will when there is room again.
  func resumeReading() {
    if !waitsForRoom { connection.socket.resumeReading() }
  }

  private func hold(_ bytes: UnsafeRawBufferPointer) {
    guard !isOver else { return }
    // Stops reading from a client that does not read its responses, or whose requests wait only for their turn or for a
    // response that is being sent. What has been read is kept.
    let isHandling = response == .none && stream?.isHandling ?? false
    let waits = connection.socket.isWriting || !hasRoom(for: bytes.count) && !isHandling
    if waits {
      waitsForRoom = true
      connection.socket.pauseReading()
    }
    guard waits || hasRoom(for: bytes.count) else {
      held = HeldBytes()
      closesAfter = true
      return
    }
    if !closesAfter { held.append(bytes) }
  }

  /// Starts the exchange of the next held request, as far as it has arrived.
  private func serveHeld() {
    var bytes = held
    held = HeldBytes()
    bytes.take { bytes in
      var rest = bytes
      offense = read(&rest)
      connection.didReadHeld()
      return rest
    }
    held = bytes
  }

  private func open(_ head: HTTP1RequestHead) {
    let stream = connection.openStream()
    stream.id = 1
    _ = connection.parts.streams.insert(stream)
    self.stream = stream
    requestIsWhole = !head.hasBody
    closesAfter = closesAfter || head.closes
    let fields = connection.parts.fields
    fields.begin()
    head.forEachField { stream.receiveHeader($0, $1, fields) }
    stream.headersDidEnd(endsStream: requestIsWhole, fields)
    guard head.expectsContinue, head.hasBody else { return }
    if stream.ignoresBody {
      // Answered at once, because the client waits before it sends the body.
      stream.remoteDidEnd()
    } else {
      unsent += "HTTP/1.1 100 Continue\r\n\r\n".utf8
    }
  }

  /// The streams of rejected requests end when the connection closes.
  private func refuse(_ status: StaticString) {
    isOver = true
    guard response == .none, status.utf8CodeUnitCount > 0 else { return }
    let reason = HTTP1Reason.of("\(status)")
    unsent += "HTTP/1.1 \(status) \(reason)\r\ncontent-length: 0\r\nconnection: close\r\n\r\n".utf8
  }

  /// `receive` has already refused the requests that it reports.
  func terminate(_ offense: Offense, _ reason: StaticString?) {
    if offense.abuse == .slowHeaders { refuse("408") }
    isOver = true
  }

  /// The rest of a request cannot be refused. The connection closes after the response.
  func stopRequest(_ id: Int32) { closesAfter = true }

  // MARK: Writing

  func submitResponse(_ stream: StreamEntry) { respond(hasBody: true) }

  func submitResponse(_ stream: StreamEntry, constant: ConstantHeaders) {
    connection.headers.reset()
    connection.headers.add(constant)
    respond(hasBody: true)
  }

  func submitTrailersOnly(_ stream: StreamEntry) { respond(hasBody: false) }

  /// A response cannot be reset, so the connection ends.
  func abandonResponse(_ id: Int32) { connection.close(.answerNotTaken) }

  /// A client cannot announce how large headers may be.
  var headerListLimit: Int { .max }

  private func respond(hasBody: Bool) {
    guard response == .none else { return }
    response = hasBody ? .body : .headOnly
    output = HTTP1Output()
    if !requestIsWhole { closesAfter = true }
    let headers = connection.headers
    unsent.reserveCapacity(unsent.count + headers.listSize + Self.usualExtra)
    var mayHaveLength = true
    headers.forEachField { name, value in
      // The first field, as in HTTP/2.
      guard name.first != UInt8(ascii: ":") else {
        mayHaveLength = !value.equals("204")
        return writeStatus(value)
      }
      if name.equals("content-length") { output.isChunked = false }
      unsent += name
      unsent += ": ".utf8
      unsent += value
      unsent += "\r\n".utf8
    }
    if !output.isChunked {
      // The headers contain the length.
    } else if hasBody {
      unsent += "transfer-encoding: chunked\r\n".utf8
    } else if mayHaveLength {
      unsent += "content-length: 0\r\n".utf8
    }
    if closesAfter { unsent += "connection: close\r\n".utf8 }
    unsent += "\r\n".utf8
  }

  private func writeStatus(_ value: UnsafeBufferPointer<UInt8>) {
    // Most responses, without the cost of making a text.
    if value.equals("200") {
      unsent += "HTTP/1.1 200 OK\r\n".utf8
    } else {
      let status = String(decoding: value, as: UTF8.self)
      unsent += "HTTP/1.1 \(status) \(HTTP1Reason.of(status))\r\n".utf8
    }
  }

  func drain(into output: OutputBuffer, limit: Int) -> Drained {
    use()
    let drained = serve(into: output, limit: limit)
    if let offense = offense.take() { return .offense(offense) }
    guard !isOver else { return drained }
    let isLast = closesAfter || isHalfClosed && held.isEmpty
    // The rest of an incomplete request cannot follow any more.
    let isCut = isHalfClosed && held.isEmpty && !requestIsWhole
    return stream == nil && isLast || isCut ? .over(.exchangesOver, onceWritten: isHalfClosed) : drained
  }

  /// Writes the response, and those to held requests that are ready at once.
  private func serve(into output: OutputBuffer, limit: Int) -> Drained {
    defer {
      if waitsForRoom, hasRoom() {
        waitsForRoom = false
        resumeReading()
      }
    }
    while true {
      let drained = drainResponse(into: output, limit: limit)
      if response == .sent, let stream { endExchange(stream) }
      // One way or the other, the exchange must be over before the next begins.
      guard stream == nil, !held.isEmpty, !isOver, !closesAfter else { return drained }
      guard output.byteCount < limit, mayServe() else { return .some }
      serveHeld()
    }
  }

  /// Whether another held request is served in this turn, which then counts.
  private func mayServe() -> Bool {
    if servedTurn != connection.loop.turn { (servedTurn, servedCount) = (connection.loop.turn, 0) }
    servedCount += 1
    return servedCount <= Self.servedLimit
  }

  private func drainResponse(into output: OutputBuffer, limit: Int) -> Drained {
    unsent.withUnsafeBytes { output.append($0) }
    unsent.removeAll(keepingCapacity: true)
    guard let stream else { return .all }
    if response == .headOnly { responseDidEnd(stream) }
    while response == .body {
      guard output.byteCount < limit else { return .some }
      switch appendBody(of: stream, to: output) {
      case .some: break
      case .wait: return .all
      case .end: responseDidEnd(stream)
      }
    }
    return .all
  }

  private func responseDidEnd(_ stream: Side.Stream) {
    response = .sent
    stream.localDidEnd()
  }

  // MARK: Between exchanges

  private func endExchange(_ stream: Side.Stream) {
    self.stream = nil
    closesAfter = closesAfter || !requestIsWhole
    response = .none
    requestIsWhole = false
    connection.parts.streams.end(stream, 0)
    // The request may have had bytes that its handler did not read.
    resumeReading()
    if held.isEmpty { watchIdleness(isUsed: true) }
  }

  /// The header `connection: close` of the last response is the announcement. An idle connection closes at once.
  func startDraining() {
    closesAfter = true
    if stream == nil { connection.close(.serverStopped, gently: true) }
  }

  /// A client cannot be pinged, but it must read its responses.
  func checkSilence(
    _ keepalive: inout Keepalive,
    now: UInt64,
    lastRead: UInt64,
    isWriting: Bool
  ) -> Keepalive.Action {
    let silence = now - min(now, lastRead)
    return isWriting && silence >= keepalive.interval ? .close : .wait(keepalive.interval)
  }

  /// Ends the stream, and releases it: it has a reference to the connection.
  func connectionDidClose() {
    stopIdleTimer()
    isOver = true
    stream = nil
    connection.parts.streams.endAll()
  }

  func memoryWasPacked() {
    freeHeads()
    if unsent.isEmpty { unsent = [] }
    connection.forgetKnownCall()
  }
}
