import SwitchboardCall

@testable import SwitchboardNetwork
@testable import SwitchboardTransport

/// A client's connection with a server and callers that perform random valid and invalid actions.
final class ClientLife: CallerLife {
  private let reader = FrameReader(skipping: 24)

  override init?(_ group: LoopGroup, _ options: ChannelOptions, seed: UInt64, tracing: Bool) {
    super.init(group, options, seed: seed, tracing: tracing)
    let window = dice.pick([0, 1, 10, 100, 65_535, 65_535])
    note("the server's windows are of \(window) bytes")
    feed(Frame(.settings, [0, 4] + Frame.number(UInt32(window))))
  }

  // MARK: Steps

  override func step() throws(Violation) -> Bool {
    try verify()
    guard let remaining, !remaining.isClosed else { return false }
    switch dice.below(20) {
    case 0..<3: open()
    case 3..<5: sendHeaders()
    case 5..<10: sendData()
    case 10: sendTrailers()
    case 11: sendReset()
    case 12: sendOther()
    case 13: if dice.oneIn(4) { advanceTime() }
    case 14: if dice.oneIn(8) { breakRule() }
    case 15: if let holder = (pick() as? InterceptedCall)?.holder { step(holder) }
    default: stepCaller()
    }
    return !remaining.isClosed
  }

  private func feed(_ frame: Frame) {
    remaining?.feed(frame.bytes)
    remaining?.setNeedsFlush()
  }

  /// A stream that the server may still send on.
  private func pickOpen() -> (call: CheckedCall, stream: UInt32)? {
    guard let call = pick(), let stream = call.model.stream, !call.model.isHalfClosed, !call.model.isGone,
      !call.model.isOver
    else { return nil }
    return (call, stream)
  }

  private func sendHeaders() {
    guard let (call, stream) = pickOpen(), call.model.answer == nil else { return }
    if dice.oneIn(5) {
      note("\(stream): informational headers")
      return feed(.headers(stream, [(":status", "103"), ("x-answer", "none")], ends: false))
    }
    var fields = [
      (":status", "200"), ("content-type", "application/grpc"), ("x-answer", "\(call.model.token)"),
    ]
    call.model.hasEncoding = dice.oneIn(2)
    if call.model.hasEncoding { fields.append(("grpc-encoding", "gzip")) }
    // A status outside the last block does not count.
    if dice.oneIn(8) { fields.append(("grpc-status", "0")) }
    call.model.answer = .good
    if dice.oneIn(10) {
      call.model.answer = .bad
      fields[0].1 = dice.pick(["200", "404", "503"])
      fields[1].1 = "text/html"
    }
    note("\(stream): headers \(fields)")
    feed(.headers(stream, fields, ends: false))
  }

  private func sendData() {
    guard let (call, stream) = pickOpen(), call.model.answer != nil else { return }
    while dice.oneIn(2), call.model.responses.mayCompose {
      call.model.responses.compose(Int(stream), compresses: call.model.hasEncoding, &dice)
    }
    let bytes = call.model.responses.take(dice.pick([0, 1, 4, 5, 6, 50, 10_000]))
    // Without trailers, so it is not a successful end.
    let ends = dice.oneIn(20)
    call.model.isHalfClosed = ends
    note("\(stream): \(bytes.count) bytes\(ends ? ", and the end" : ""): \(bytes.prefix(8))")
    feed(Frame(.data, flags: ends ? 1 : 0, stream: stream, bytes))
  }

  private func sendTrailers() {
    guard let (call, stream) = pickOpen() else { return }
    let code = dice.pick([.ok, .ok, .ok, .notFound, .unavailable] as [GRPCStatus.Code])
    var fields = [("grpc-status", "\(code.rawValue)"), ("x-answer", "late"), ("grpc-encoding", "rot13")]
    if call.model.answer == nil {
      fields = [(":status", "200"), ("content-type", "application/grpc")] + fields
    }
    let ends = call.model.answer == nil || !dice.oneIn(6)
    if ends {
      call.model.end = code
      call.model.isHalfClosed = true
    } else {
      call.model.isGone = true
    }
    note("\(stream): trailers with \(code)\(ends ? "" : ", without an end")")
    feed(.headers(stream, fields, ends: ends))
  }

  private func sendReset() {
    guard let (call, stream) = pickOpen() else { return }
    let code = dice.pick([0, 1, 2, 7, 7, 8, 11, 99] as [UInt32])
    note("\(stream): reset with \(code)")
    if code == 7, call.model.answer == nil { call.model.refusals += 1 } else { call.model.isGone = true }
    call.model.stream = code == 7 ? nil : stream
    feed(Frame(.reset, stream: stream, Frame.number(code)))
  }

  private func sendOther() {
    let stream = pickOpen()?.stream ?? 0
    switch dice.below(9) {
    case 0..<4:
      let count = dice.pick([1, 3, 10, 1000] as [UInt32])
      note("\(stream): \(count) bytes more")
      feed(Frame(.windowUpdate, stream: stream, Frame.number(count)))
    case 4: feed(Frame(.ping, [1, 2, 3, 4, 5, 6, 7, 8]))
    case 5:
      let window = dice.pick([0, 1, 10, 100, 65_535] as [UInt32])
      note("windows of \(window) bytes")
      feed(Frame(.settings, [0, 4] + Frame.number(window)))
    case 6:
      let count = dice.pick([0, 1, 3, 100] as [UInt32])
      note("\(count) streams at a time")
      feed(Frame(.settings, [0, 3] + Frame.number(count)))
    default:
      guard dice.oneIn(4) else { return }
      note("the server says good-bye")
      loseAll()
      feed(Frame(.goAway, Frame.number(UInt32(dice.below(5))) + Frame.number(dice.pick([0, 0, 2, 11]))))
    }
  }

  private func breakRule() {
    note("a rule is broken")
    loseAll()
    switch dice.below(4) {
    case 0: feed(Frame(.data, stream: 99, [0]))
    case 1: feed(Frame(.windowUpdate, Frame.number(0)))
    case 2: feed(Frame(.headers, flags: 5, stream: 1, [0xff, 0xff, 0xff, 0xff, 0x0f]))
    default: remaining?.socketDidEnd(nil)
    }
  }

  // MARK: Checks

  override func verify() throws(Violation) {
    wire.read { reader.append($0) }
    for frame in try reader.takeFrames() {
      let fields = frame.kind == .headers ? try reader.inflate(frame.payload) : []
      note("  \(frame.stream): \(frame.kind) \(frame.flags) \(frame.payload.count) bytes \(fields)")
      if frame.kind == .headers {
        let token = fields.first { $0.name == "x-token" }.flatMap { Int($0.value) } ?? 0
        guard all.indices.contains(token - 1) else { throw Violation("headers of no call are sent") }
        if all[token - 1].model.stream != frame.stream {
          try all[token - 1].model.opened(frame.stream)
          continue
        }
      }
      guard let call = all.first(where: { $0.model.stream == frame.stream }) else { continue }
      try call.model.sent(frame)
    }
    try super.verify()
  }
}
