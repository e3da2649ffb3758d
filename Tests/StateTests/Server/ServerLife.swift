import SwitchboardCall

@testable import SwitchboardNetwork
@testable import SwitchboardTransport

/// A server's connection with a client and handlers that perform random valid and invalid actions.
final class ServerLife: HandlerLife {
  private let reader = FrameReader(skipping: 0)
  private var nextStream: UInt32 = 1
  /// The client has violated the protocol, and the connection may end at any time.
  private var mayEnd = false
  /// Whether most requests have the head of an earlier one.
  private let repeats: Bool
  private var table = FieldTable()

  override init?(_ core: ServerCore, _ loop: Loop, _ script: Script, seed: UInt64, tracing: Bool) {
    repeats = seed % 3 == 0
    super.init(core, loop, script, seed: seed, tracing: tracing)
    let window = dice.pick([0, 1, 10, 100, 65_535, 65_535])
    note("the client's windows are of \(window) bytes")
    connection?.feed(Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8))
    feed(Frame(.settings, [0, 4] + Frame.number(UInt32(window))))
  }

  // MARK: Steps

  override func step() throws(Violation) -> Bool {
    try verify()
    guard let connection, !connection.isClosed else { return false }
    // A busy loop has put off what ends its calls.
    guard !connection.isPostponed, !connection.isDirty else { return true }
    guard try isAtRest() else { return true }
    switch dice.below(20) {
    case 0..<3: open()
    case 3..<9: sendData()
    case 9: sendTrailers()
    case 10: sendReset()
    case 11: sendOther()
    case 12: if dice.oneIn(4) { advanceTime() }
    case 13: if dice.oneIn(6) { breakRule() }
    case 14: stepInterceptor()
    default: stepHandler()
    }
    return !connection.isClosed
  }

  private func feed(_ frame: Frame) {
    connection?.feed(frame.bytes)
    connection?.setNeedsFlush()
  }

  /// Forgets the calls that are over, so that others may have their tokens. An interceptor may still let a handler start.
  private func retire() {
    script.models.removeAll { model in
      model.isOver && (model.isHalfClosed || model.isGone) && !script.isRunning(model.token)
        && script.holders[model.token] == nil
    }
  }

  private func open() {
    if repeats { retire() }
    guard script.models.count < 8 else { return }
    let (path, type) = pickMethod(repeats: repeats)
    var fields = [(":method", "POST"), (":scheme", "http"), (":path", path)]
    fields += [(":authority", "a"), ("te", "trailers"), ("content-type", "application/grpc")]
    let hasDeadline = dice.oneIn(repeats ? 8 : 3)
    if hasDeadline { fields.append(("grpc-timeout", "10S")) }
    let hasEncoding = dice.oneIn(repeats ? 8 : 2)
    if hasEncoding { fields.append(("grpc-encoding", "gzip")) }
    let isValid = !dice.oneIn(12)
    if !isValid {
      switch dice.below(4) {
      case 0: fields[2].1 = "/s/nothing"
      case 1: fields.remove(at: 4)
      case 2: fields.append(("grpc-timeout", "soon"))
      default: fields.append(("grpc-encoding", "rot13"))
      }
    }
    let token = repeats ? freeToken : nextToken()
    let named = ("x-token", "\(token)")
    let ends = dice.oneIn(10)
    var model = ServerCallModel(
      stream: nextStream,
      token: token,
      type: type,
      isValid: isValid,
      hasDeadline: hasDeadline,
      hasEncoding: hasEncoding
    )
    model.isHalfClosed = ends
    note("\(nextStream): opened\(ends ? " and ended" : ""), \(fields), \(token)")
    script.models.append(model)
    countCall()
    let frame =
      repeats
      ? Frame.headers(nextStream, fields, named, ends: ends, in: &table)
      : Frame.headers(nextStream, fields + [named], ends: ends)
    nextStream += 2
    feed(frame)
    guard repeats, !ends, !dice.oneIn(3) else { return }
    let index = script.models.count - 1
    script.models[index].requests.compose(Int(model.stream), compresses: false, &dice)
    sendData(index, most: .max, ends: true)
  }

  /// The lowest token that no call has. There is one, because few calls are kept.
  private var freeToken: Int {
    (1...).first { token in !script.models.contains { $0.token == token } && !script.isRunning(token) } ?? 0
  }

  /// Whether the client may still send on a stream; otherwise sending violates the protocol.
  private func isOpen(_ model: ServerCallModel) -> Bool {
    !model.isHalfClosed && !model.isGone && !model.isOver
  }

  private func sendData() {
    guard let index = pick(), isOpen(script.models[index]) else { return }
    let stream = script.models[index].stream
    while dice.oneIn(2), script.models[index].requests.mayCompose {
      let compresses = script.models[index].hasEncoding
      script.models[index].requests.compose(Int(stream), compresses: compresses, &dice)
    }
    let most = dice.pick([0, 1, 4, 5, 6, 50, 10_000])
    sendData(index, most: most, ends: dice.oneIn(4))
  }

  private func sendData(_ index: Int, most: Int, ends: Bool) {
    let stream = script.models[index].stream
    let bytes = script.models[index].requests.take(most)
    script.models[index].isHalfClosed = ends
    note("\(stream): \(bytes.count) bytes\(ends ? ", and the end" : ""): \(bytes.prefix(8))")
    feed(Frame(.data, flags: ends ? 1 : 0, stream: stream, bytes))
  }

  /// Trailers are not metadata.
  private func sendTrailers() {
    guard let index = pick(), isOpen(script.models[index]) else { return }
    let fields = [
      ("x-token", "stolen"), ("x-late", "1"), ("grpc-timeout", "1S"), ("grpc-encoding", "rot13"),
      ("content-type", "text/plain"),
    ]
    let ends = !dice.oneIn(6)
    if ends { script.models[index].isHalfClosed = true } else { script.models[index].isGone = true }
    note("\(script.models[index].stream): trailers\(ends ? "" : " without an end")")
    feed(.headers(script.models[index].stream, fields, ends: ends))
  }

  private func sendReset() {
    guard let index = pick(), !script.models[index].isGone else { return }
    let code = dice.pick([0, 1, 2, 7, 8, 11, 99] as [UInt32])
    note("\(script.models[index].stream): reset with \(code)")
    script.models[index].isGone = true
    feed(Frame(.reset, stream: script.models[index].stream, Frame.number(code)))
  }

  private func sendOther() {
    let stream = pick().map { script.models[$0].stream } ?? 0
    switch dice.below(8) {
    case 0..<4:
      let count = dice.pick([1, 3, 10, 1000] as [UInt32])
      note("\(stream): \(count) bytes more")
      feed(Frame(.windowUpdate, stream: stream, Frame.number(count)))
    case 4: feed(Frame(.ping, [1, 2, 3, 4, 5, 6, 7, 8]))
    case 5:
      let window = dice.pick([0, 1, 10, 100, 65_535] as [UInt32])
      note("windows of \(window) bytes")
      feed(Frame(.settings, [0, 4] + Frame.number(window)))
    case 6: feed(Frame(.priority, stream: stream == 0 ? 1 : stream, [0, 0, 0, 0, 7]))
    default:
      note("the client says good-bye")
      feed(Frame(.goAway, Frame.number(0) + Frame.number(0)))
    }
  }

  /// Actions that end the connection.
  private func breakRule() {
    mayEnd = true
    note("a rule is broken")
    for index in script.models.indices { script.models[index].isGone = true }
    switch dice.below(4) {
    case 0: feed(Frame(.data, stream: nextStream + 10, [0]))
    case 1: feed(Frame(.windowUpdate, Frame.number(0)))
    case 2: feed(Frame(.headers, flags: 5, stream: nextStream, [0xff, 0xff, 0xff, 0xff, 0x0f]))
    default: connection?.socketDidEnd(nil)
    }
  }

  // MARK: Checks

  override func verify() throws(Violation) {
    try super.verify()
    wire.read { reader.append($0) }
    for frame in try reader.takeFrames() {
      let fields = frame.kind == .headers ? try reader.inflate(frame.payload) : []
      note("  \(frame.stream): \(frame.kind) \(frame.flags) \(frame.payload.count) bytes \(fields)")
      if frame.kind == .goAway {
        try Violation.unless(mayEnd || frame.errorCode == 0, "GOAWAY with \(frame.errorCode) for no reason")
      }
      guard frame.stream > 0, let index = script.models.firstIndex(where: { $0.stream == frame.stream })
      else {
        continue
      }
      let named = Dictionary(fields.map { ($0.name, $0.value) }) { first, _ in first }
      try script.models[index].sent(frame, fields: named)
    }
  }
}
