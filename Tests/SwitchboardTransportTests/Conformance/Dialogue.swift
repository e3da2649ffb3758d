import HTTP2TestSupport
import SwitchboardNetwork
import SwitchboardTransport

/// The client's part of a conformance case: it sends frames in one of several ways, and reads the responses.
final class Dialogue {
  typealias Kind = FramePeer.Kind

  /// The kind of requests to make: gRPC's, or others, which a server must answer as HTTP requires.
  enum Request: String {
    case grpc
    /// For what a server of gRPC does not have.
    case plain
    /// For a page, whose answer has a body.
    case page
  }

  /// Whether to wait after each frame until the server has processed it.
  enum Pace: String, CaseIterable {
    case together, apart
  }

  let request: Request
  private let pace: Pace
  private let peer: FramePeer
  /// Frames that were read while waiting for another.
  private var heard: [FramePeer.Frame] = []
  private var isInsideHeaders = false
  private var isDead = false

  init(
    _ address: SocketAddress,
    _ request: Request,
    _ pace: Pace,
    greets: Bool = true,
    isSecure: Bool = false
  ) throws {
    self.request = request
    self.pace = pace
    peer = isSecure ? try FramePeer(secure: address, greets: greets) : try FramePeer(address, greets: greets)
  }

  // MARK: Sending

  func raw(_ bytes: [UInt8]) { peer.write(bytes) }

  func greet() { peer.greet() }

  func frame(_ type: UInt8, _ flags: UInt8, _ stream: UInt32, _ payload: [UInt8] = []) {
    guard !isDead else { return }
    peer.send(type, flags, stream, payload)
    if type == Kind.headers || type == Kind.continuation { isInsideHeaders = flags & 4 == 0 }
    if pace == .apart, !isInsideHeaders { settle() }
  }

  /// A request's headers, some of them changed, omitted (`nil`) or added, at the start or at the end.
  func fields(
    method: String = "POST",
    changing: [String: String?] = [:],
    first: [(String, String)] = [],
    last: [(String, String)] = []
  ) -> [(String, String)] {
    let usual: [(String, String)] = [
      (":method", method), (":scheme", "http"), (":path", request == .grpc ? "/test.Test/Get" : "/"),
      (":authority", "test"),
    ]
    let grpc = [("te", "trailers"), ("content-type", "application/grpc")]
    let kept = (usual + (request == .grpc ? grpc : [])).compactMap { field -> (String, String)? in
      guard let change = changing[field.0] else { return field }
      return change.map { (field.0, $0) }
    }
    return first + kept + last
  }

  func headers(_ stream: UInt32 = 1, _ fields: [(String, String)]? = nil, ends: Bool = true) {
    frame(Kind.headers, ends ? 5 : 4, stream, block(fields))
  }

  func block(_ fields: [(String, String)]? = nil) -> [UInt8] { FramePeer.block(fields ?? self.fields()) }

  func data(_ stream: UInt32 = 1, _ payload: [UInt8] = Array("test".utf8), ends: Bool = true) {
    frame(Kind.data, ends ? 1 : 0, stream, payload)
  }

  func settings(_ entries: [(UInt16, UInt32)], flags: UInt8 = 0) {
    frame(
      Kind.settings,
      flags,
      0,
      entries.flatMap { [UInt8($0 >> 8), UInt8($0 & 255)] + FramePeer.number($1) }
    )
  }

  func windowUpdate(_ stream: UInt32, _ increment: UInt32) {
    frame(Kind.windowUpdate, 0, stream, FramePeer.number(increment))
  }

  func priority(_ stream: UInt32, dependsOn parent: UInt32, weight: UInt8 = 15) {
    frame(Kind.priority, 0, stream, FramePeer.number(parent) + [weight])
  }

  func reset(_ stream: UInt32, _ code: UInt32 = 8) {
    frame(Kind.resetStream, 0, stream, FramePeer.number(code))
  }

  func ping(_ payload: [UInt8] = Array("switchbd".utf8)) { frame(Kind.ping, 0, 0, payload) }

  // MARK: Receiving

  /// Pings, so that the server has processed all frames sent before.
  private func settle() {
    let mark = Array("settled?".utf8)
    peer.send(Kind.ping, 0, 0, mark)
    while let frame = peer.next() {
      if frame.type == Kind.ping, frame.flags & 1 == 1, frame.payload == mark { return }
      heard.append(frame)
    }
    isDead = true
  }

  static let probe = Array("anybody?".utf8)

  /// A ping whose acknowledgment shows that the server accepted the frames before it.
  func probe() {
    if !isDead { peer.send(Kind.ping, 0, 0, Self.probe) }
  }

  /// A ping may overtake earlier frames, but a second one does not.
  func probeAgain() -> Bool {
    guard probes == 0 else { return false }
    probes += 1
    probe()
    return true
  }

  private var probes = 0

  /// The next frame; `nil` when the connection is closed, or after a timeout.
  func next() -> FramePeer.Frame? {
    if !heard.isEmpty { return heard.removeFirst() }
    return isDead ? nil : peer.next()
  }

  /// Waits for a frame of a type, which stays in the queue.
  func await(_ type: UInt8) {
    if heard.contains(where: { $0.type == type }) { return }
    while !isDead, let frame = peer.next() {
      heard.append(frame)
      if frame.type == type { return }
    }
    isDead = true
  }

  /// Waits until the server has finished a stream.
  func hearOut(_ stream: UInt32 = 1) {
    var passed: [FramePeer.Frame] = []
    while let frame = next() {
      if frame.stream == stream, frame.type == Kind.resetStream || frame.endsStreamForSure { break }
      passed.append(frame)
    }
    heard = passed.filter { $0.stream != stream }
  }
}

extension FramePeer.Frame {
  var endsStreamForSure: Bool {
    (type == FramePeer.Kind.headers || type == FramePeer.Kind.data) && endsStream
  }
}
