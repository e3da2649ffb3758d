import SwitchboardCall

@testable import SwitchboardNetwork
@testable import SwitchboardTransport

/// A server's connection, whose handlers perform random actions.
class HandlerLife: Life {
  final let script: Script
  final let wire: Wire
  private(set) final var connection: ServerConnection?
  private weak var remaining: ServerConnection?
  private var advances = 0
  private static nonisolated(unsafe) var lastToken = 0

  static func options(_ observer: any CallObserver) -> ServerOptions {
    var options = ServerOptions()
    options.logger = .quiet
    options.maxRequestSize = MessageSender.sizeLimit
    options.minimumPingInterval = .zero
    options.streamBufferSize = 100
    options.observer = observer
    return options
  }

  init?(_ core: ServerCore, _ loop: Loop, _ script: Script, seed: UInt64, tracing: Bool) {
    guard let (wire, socket) = Wire.make(on: loop),
      let connection = ServerConnection(core, loop: loop, socket: socket, peer: nil)
    else { return nil }
    self.wire = wire
    self.script = script
    self.connection = connection
    remaining = connection
    super.init(loop, seed: seed, tracing: tracing)
    script.reset()
    connection.start()
  }

  override var session: (any HTTPSession)? { connection?.withSession { $0 } }

  // MARK: For subclasses

  /// Checks what the server has sent, and what its handlers have received.
  func verify() throws(Violation) {
    if let violation = script.violation { throw violation }
  }

  /// Whether all handlers have been notified that must be. What notifies them may be among what a loop without time has put off.
  final func isAtRest() throws(Violation) -> Bool {
    do throws(Violation) {
      for model in script.models { try model.checkRest() }
      return true
    } catch {
      guard loop.hasWork else { throw error }
      return false
    }
  }

  // MARK: The handlers

  /// The number of the next call.
  final func nextToken() -> Int {
    Self.lastToken += 1
    return Self.lastToken
  }

  /// The index of a call; later ones are likelier.
  final func pick() -> Int? {
    guard !script.models.isEmpty else { return nil }
    return script.models.count - 1 - min(dice.below(4), dice.below(script.models.count))
  }

  /// Chooses a method, mostly the same one if `repeats`, and what its interceptor does.
  final func pickMethod(repeats: Bool = false) -> (path: String, type: GRPCCallType) {
    let kinds: [(String, GRPCCallType)] = [
      ("U", .unary), ("S", .serverStreaming), ("C", .clientStreaming), ("B", .bidirectionalStreaming),
    ]
    let (name, type) = repeats && !dice.oneIn(4) ? kinds[0] : dice.pick(kinds)
    script.newHoldersHold = dice.oneIn(3)
    script.newHoldersAnswer = dice.oneIn(8)
    return ("/s/\(name)\(dice.oneIn(repeats ? 9 : 3) ? "I" : "")", type)
  }

  /// Whether time may still pass: a few times in a life.
  final var mayAdvanceTime: Bool { advances < 4 }

  final func advanceTime() {
    guard mayAdvanceTime else { return }
    advances += 1
    note("eleven seconds pass")
    for index in script.models.indices where script.models[index].hasDeadline {
      script.models[index].isLate = true
    }
    loop.advanceClock(by: .seconds(11))
  }

  final func stepInterceptor() {
    guard let index = pick(), let holder = script.holders[script.models[index].token] else { return }
    step(holder)
  }

  final func stepHandler() {
    guard let index = pick() else { return }
    let model = script.models[index]
    guard script.isWaiting(model.token) else { return }
    let step: Script.Step =
      switch dice.below(10) {
      case 0..<4: .read
      case 4..<8:
        .write([UInt8](repeating: UInt8(truncatingIfNeeded: model.written.count), count: dice.below(60)))
      case 8: .sendHeaders
      default: .finish(dice.pick([.ok, .ok, .notFound, .aborted]))
      }
    if case .read = step, !model.streamsRequests { return }
    if case .write = step, !model.streamsResponses { return }
    note("\(model.stream): its handler is to \(step)")
    script.enqueue(model.token, step)
  }

  // MARK: The end

  override func end() throws(Violation) {
    try verify()
    for index in script.models.indices { script.models[index].isGone = true }
    connection?.close(.connectionLost)
    connection = nil
  }

  override func remains() throws(Violation) -> String? {
    if let violation = script.violation { throw violation }
    for model in script.models {
      script.holders[model.token]?.release()
      if script.isWaiting(model.token) {
        guard try isAtRest() else { return "handlers are not notified of the end of their calls" }
        script.enqueue(model.token, .finish(.ok))
      }
    }
    if script.runningCount > 0 { return "\(script.runningCount) handlers do not return" }
    if !script.holders.isEmpty { script.dropHolders() }
    if script.keptCount > 0 { return "\(script.keptCount) calls are kept although they are over" }
    if remaining != nil { return "a connection is kept although it is closed" }
    wire.close()
    return nil
  }
}
