import SwitchboardBalancing
import SwitchboardCall

@testable import SwitchboardNetwork
@testable import SwitchboardTransport

/// A client's connection, whose callers perform random actions.
class CallerLife: Life {
  private(set) final var channel: HTTP2ClientTransport?
  /// The same channel for calls with interceptors.
  private var intercepted: Channel?
  private(set) final weak var remaining: ClientConnection?
  private weak var remainingChannel: HTTP2ClientTransport?
  final let wire: Wire
  private(set) final var all: [CheckedCall] = []
  private var advances = 0
  /// The connection accepts no more calls, and there is no other.
  private var isLost = false

  /// Further attempts to connect fail at once.
  private static let target = "unix:/nowhere/at/all"

  static func options(_ observer: any CallObserver) -> ChannelOptions {
    var options = ChannelOptions()
    options.logger = .quiet
    options.maxConnections = 1
    options.responseSizeLimit = MessageSender.sizeLimit
    options.observer = observer
    return options
  }

  init?(_ group: LoopGroup, _ options: ChannelOptions, seed: UInt64, tracing: Bool) {
    let loop = group.loops[0]
    guard let channel = try? HTTP2ClientTransport(target: Self.target, options: options, group: group),
      let (wire, socket) = Wire.make(on: loop), let connection = channel.adopt(socket)
    else { return nil }
    self.wire = wire
    self.channel = channel
    remainingChannel = channel
    remaining = connection
    super.init(loop, seed: seed, tracing: tracing)
    intercepted = Channel(channel, environment: CallEnvironment(time: loop.clock))
  }

  override var session: (any HTTPSession)? { remaining?.withSession { $0 } }

  // MARK: For subclasses

  /// Something happens after which the connection explains the end of any call.
  func loseAll() {
    isLost = true
    for call in all { call.model.isGone = true }
  }

  /// A caller is about to give up.
  func willCancel(_ call: CheckedCall) {}

  /// Checks what the client has sent, and what its callers have received.
  func verify() throws(Violation) {
    for call in all { if let violation = call.violation { throw violation } }
  }

  // MARK: The callers

  final func pick() -> CheckedCall? {
    guard !all.isEmpty else { return nil }
    return all[all.count - 1 - min(dice.below(4), dice.below(all.count))]
  }

  final func open(mayIntercept: Bool = true) {
    guard all.count < 8, let channel else { return }
    let kinds: [(String, GRPCCallType)] = [
      ("U", .unary), ("S", .serverStreaming), ("C", .clientStreaming), ("B", .bidirectionalStreaming),
    ]
    let (name, type) = dice.pick(kinds)
    var model = ClientCallModel(token: all.count + 1, type: type, hasDeadline: dice.oneIn(3))
    model.isGone = isLost
    note("call \(model.token): \(name)\(model.hasDeadline ? ", with a deadline" : "")")
    countCall()
    guard mayIntercept, dice.oneIn(3), let intercepted else {
      let call = DirectCall(model)
      all.append(call)
      return call.start(on: channel, name)
    }
    let (holds, answers) = (dice.oneIn(3), dice.oneIn(8))
    note("  through an interceptor\(holds ? " that holds back" : "")\(answers ? " that answers" : "")")
    all.append(InterceptedCall(model, on: intercepted, name, holds: holds, answers: answers))
  }

  final func advanceTime() {
    guard advances < 4 else { return }
    advances += 1
    note("eleven seconds pass")
    for call in all where call.model.hasDeadline { call.model.isLate = true }
    loop.advanceClock(by: .seconds(11))
  }

  final func stepCaller() {
    guard let call = pick() else { return }
    switch dice.below(10) {
    case 0..<4:
      note("call \(call.model.token) reads")
      call.read()
    case 4..<8:
      note("call \(call.model.token) writes")
      let message = [UInt8](
        repeating: UInt8(truncatingIfNeeded: call.model.written.count),
        count: dice.below(60)
      )
      call.write(message, flush: !dice.oneIn(4))
    case 8:
      note("call \(call.model.token) finishes")
      call.finish()
    default:
      guard dice.oneIn(3) else { return }
      note("call \(call.model.token) is cancelled")
      willCancel(call)
      call.cancel()
    }
  }

  // MARK: The end

  override func end() throws(Violation) {
    try verify()
    loseAll()
    remaining?.close(.connectionLost)
    channel?.retire()
    channel = nil
    intercepted = nil
  }

  override func remains() throws(Violation) -> String? {
    for call in all {
      (call as? InterceptedCall)?.holder?.release()
      while call.read() {}
      if let violation = call.violation { throw violation }
      guard call.model.isOver else { return "a call does not end although its connection has" }
      if let remains = call.remains { return remains }
      call.release()
    }
    if remaining != nil { return "a connection is kept although it is closed" }
    if remainingChannel != nil { return "a channel is kept although it is retired" }
    for call in all { try call.model.checkEnd() }
    wire.close()
    return nil
  }
}

extension HTTP2ClientTransport {
  /// Makes a connection of a socket, as if the channel had connected it. Call on the loop.
  func adopt(_ socket: Socket) -> ClientConnection? {
    balancer.leaveIdle()
    balancer.received(ResolverResult(endpoints: [Endpoint([.unix(path: "/nowhere/at/all")])]))
    guard let subchannel = subchannels.values.first else { return nil }
    subchannel.finishDialing()
    subchannel.adopt(subchannel.startDialing(), socket, nil)
    return subchannel.connections.last
  }
}
