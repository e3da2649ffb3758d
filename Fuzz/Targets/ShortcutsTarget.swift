import SwitchboardCall

@testable import SwitchboardNetwork
@testable import SwitchboardTransport

/// A server's HTTP/2 session with shortcuts and one without, of which each receives the same frames: their streams must
/// receive the same, and both must answer with the same bytes.
enum ShortcutsTarget {
  /// The first byte chooses the limit of headers, the second one the size of the pieces in which the rest arrives after a
  /// greeting.
  static func run(_ input: [UInt8]) throws {
    guard input.count > 2 else { return }
    let size = input[1] == 0 ? input.count : Int(input[1])
    let limit = input[0] % 4 == 0 ? 300 : 16 * 1024
    let lives = try [true, false].map {
      try live(input[2...], pieces: size, limit: limit, takesShortcuts: $0)
    }
    try BrokenPromise.unless(
      lives[0] == lives[1],
      "with shortcuts:\n\(lives[0].joined(separator: "\n"))\nwithout:\n\(lives[1].joined(separator: "\n"))"
    )
  }

  private static let greeting = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8) + [0, 0, 0, 4, 0, 0, 0, 0, 0]

  /// What a session makes of the bytes.
  private static func live(
    _ bytes: ArraySlice<UInt8>,
    pieces size: Int,
    limit: Int,
    takesShortcuts: Bool
  ) throws -> [String] {
    var settings = SessionSettings()
    settings.maxHeaderListSize = limit
    settings.takesShortcuts = takesShortcuts
    guard let session = Session(.server, settings: settings, memory: BlockPool()) else {
      throw BrokenPromise(description: "there is no memory for a session")
    }
    let client = RecordingPeer()
    session.delegate = client
    session.shortcuts?.takesTraceParents = true
    defer { session.connectionDidClose() }
    var answer: [UInt8] = []
    var rest = bytes
    var piece = greeting[...]
    var offense: Offense?
    while offense == nil, !piece.isEmpty {
      offense =
        piece.withUnsafeBytes { session.receive($0, now: 1) } ?? client.answer(over: session, into: &answer)
      piece = rest.prefix(size)
      rest = rest.dropFirst(size)
    }
    return client.streams.map(\.record) + ["\(answer)", offense.map { "\($0.abuse)" } ?? ""]
  }
}

/// Accepts all streams, and answers each request once it has ended.
private final class RecordingPeer: SessionDelegate {
  private(set) var streams: [RecordingStream] = []
  var sessionNow: UInt64 { 1 }
  var outputWaits: Bool { false }

  func sessionDidOpenStream(_ id: Int32) -> (any SessionStream)? {
    let stream = RecordingStream()
    streams.append(stream)
    return stream
  }

  func sessionDidReceiveGoAway(_ goAway: GoAway) {}
  func sessionDidReceiveSettings() {}
  func sessionDidReceivePing() {}
  func sessionDidBlamePeer() {}

  func answer(over session: Session, into answer: inout [UInt8]) -> Offense? {
    for stream in streams where stream.takeEnd() { session.submitResponse(stream, constant: .response) }
    let output = OutputBuffer()
    var drained = Drained.some
    while drained == .some { drained = session.drain(into: output, limit: 1 << 20) }
    output.forEachPiece { answer += $0 }
    if case .offense(let offense) = drained { return offense }
    return nil
  }
}

/// Records a request, and answers with three bytes and success.
private final class RecordingStream: StreamEntry, SessionStream {
  private var fields: [String] = []
  private var events: [String] = []
  private var hasEnded = false
  /// The `traceparent` that the session took from the end of the head.
  private var taken: String?
  private var hasOtherTraceParent = false

  /// The fields are sorted, because such a `traceparent` comes first. Nothing is made of a head that was refused at one of
  /// its fields.
  var record: String { "\(id): \(events.contains("head") ? fields.sorted() : []) \(events)" }

  /// Whether the request has ended since the last time.
  func takeEnd() -> Bool {
    defer { hasEnded = false }
    return hasEnded
  }

  private final class Kept: KeptHead {
    let fields: [String]

    init(_ fields: [String]) { self.fields = fields }

    func value(of name: String) -> String? {
      fields.first { $0.hasPrefix(name + ": ") }.map { String($0.dropFirst(name.utf8.count + 2)) }
    }
  }

  func receiveHeader(_ name: Bytes, _ value: Bytes, _ collector: FieldCollector) {
    let name = String(decoding: name, as: UTF8.self)
    if name == "traceparent" { hasOtherTraceParent = true }
    fields.append(name + ": " + String(decoding: value, as: UTF8.self))
  }
  func receiveTraceParent(_ identity: SpanIdentity) {
    let field = "traceparent: " + String(decoding: identity.text, as: UTF8.self)
    fields.append(field)
    taken = field
  }
  func receiveHead(_ kept: any KeptHead) { if let kept = kept as? Kept { fields += kept.fields } }
  var keptHead: (any KeptHead)? {
    // One that was taken from the end of the head belongs to this stream alone, and any other makes the head unfit.
    hasOtherTraceParent ? nil : Kept(fields.filter { $0 != taken })
  }
  func headersDidEnd(endsStream: Bool, _ collector: FieldCollector) {
    events.append("head")
    if endsStream { remoteDidEnd() }
  }
  func receiveData(_ bytes: UnsafeRawBufferPointer) { events.append("\(Array(bytes))") }
  func remoteDidEnd() {
    events.append("end")
    hasEnded = true
  }
  func didClose(_ code: UInt32) { events.append("closed with \(code)") }
  func readBody(into buffer: UnsafeMutableRawBufferPointer) -> BodyRead {
    buffer.copyBytes(from: [1, 2, 3].prefix(buffer.count))
    return .last(min(3, buffer.count))
  }
  func trailers(into headers: HeaderWriter) -> Trailers {
    headers.reset()
    headers.add(.success)
    return .success
  }

  // A server that only answers has nothing to do for these.
  func takeTraceParent() -> SpanIdentity? { nil }
  func headersWereRefused(_ status: GRPCStatus) {}
  func localDidEnd() {}
  func keepLent() {}
  func takeBorrowed(_ count: Int) -> (MessageBuffer, UnsafeRawBufferPointer)? { nil }
  func processReady() {}
}
