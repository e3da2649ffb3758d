import SwitchboardCall

@testable import SwitchboardNetwork
@testable import SwitchboardTransport

/// A stream that does nothing, and records the events of its session. Its body is empty by default.
final class StubStream: StreamEntry, SessionStream {
  /// Runs while the session reads the body.
  var whileSending: (() -> Void)?
  /// The start of the body, which is copied.
  var copied: [UInt8] = []
  /// The rest of the body, a frame for each message, which is not copied.
  var borrowed: [MessageBuffer] = []
  /// Whether the last piece that is copied is known to be the last.
  var knowsEnd = false
  /// Writes the trailers, if there are any.
  var endWith: (HeaderWriter) -> Trailers = { _ in .none }
  /// The received part of the peer's body.
  private(set) var received: [UInt8] = []
  private(set) var headerCount = 0
  /// The headers, as `name=value`.
  private(set) var headers: Set<String> = []
  private(set) var headersEnded = false
  private(set) var hasEnded = false
  /// Whether streams with an equal head may have this one's.
  var isRepeatable = true
  /// Whether it has another stream's head.
  private(set) var isRepeated = false
  private(set) var lines: [String] = []
  private(set) var refusal: GRPCStatus?
  private(set) var closeCode: UInt32?

  func headersWereRefused(_ status: GRPCStatus) { refusal = status }
  func didClose(_ code: UInt32) { closeCode = code }

  func receiveHeader(_ name: Bytes, _ value: Bytes, _ fields: FieldCollector) {
    headerCount += 1
    let line = String(decoding: name, as: UTF8.self) + "=" + String(decoding: value, as: UTF8.self)
    lines.append(line)
    headers.insert(line)
  }
  func receiveHead(_ kept: any KeptHead) {
    isRepeated = true
    lines = (kept as? StubHead)?.lines ?? []
    headerCount += lines.count
    headers.formUnion(lines)
  }
  var keptHead: (any KeptHead)? { isRepeatable ? StubHead(lines) : nil }
  func receiveTraceParent(_ identity: SpanIdentity) {
    headerCount += 1
    headers.insert("traceparent=" + String(decoding: identity.text, as: UTF8.self))
  }
  func headersDidEnd(endsStream: Bool, _ fields: FieldCollector) {
    headersEnded = true
    if endsStream { remoteDidEnd() }
  }
  func takeTraceParent() -> SpanIdentity? { nil }
  func receiveData(_ bytes: UnsafeRawBufferPointer) { received += bytes }
  func remoteDidEnd() { hasEnded = true }
  func localDidEnd() {}
  func readBody(into buffer: UnsafeMutableRawBufferPointer) -> BodyRead {
    whileSending.take()?()
    guard copied.isEmpty else {
      let count = min(copied.count, buffer.count)
      buffer.copyBytes(from: copied[..<count])
      copied.removeFirst(count)
      return knowsEnd && copied.isEmpty && borrowed.isEmpty ? .last(count) : .copied(count)
    }
    guard let next = borrowed.first else { return .last(0) }
    return .borrowed(next.unsafeFramedBytes.count, isLast: borrowed.count == 1)
  }
  func takeBorrowed(_ count: Int) -> (MessageBuffer, UnsafeRawBufferPointer)? {
    let message = borrowed.removeFirst()
    return (message, message.unsafeFramedBytes)
  }
  func trailers(into headers: HeaderWriter) -> Trailers { endWith(headers) }
  func keepLent() {}
  func processReady() {}
}

/// What such a stream keeps of its head.
private final class StubHead: KeptHead {
  let lines: [String]

  init(_ lines: [String]) { self.lines = lines }

  func value(of name: String) -> String? {
    lines.first { $0.hasPrefix(name + "=") }.map { String($0.dropFirst(name.count + 1)) }
  }
}

/// Accepts all streams of a session, which does not retain it.
final class StubPeer: SessionDelegate {
  var streams: [StubStream] = []
  /// Whether its streams keep their heads for others.
  var keepsHeads = true
  var sessionNow: UInt64 { 1 }
  var outputWaits: Bool { false }

  func sessionDidOpenStream(_ id: Int32) -> (any SessionStream)? {
    let stream = StubStream()
    stream.isRepeatable = keepsHeads
    streams.append(stream)
    return stream
  }
  func sessionDidReceiveGoAway(_ goAway: GoAway) {}
  func sessionDidReceiveSettings() {}
  func sessionDidReceivePing() {}
  func sessionDidBlamePeer() {}
}
