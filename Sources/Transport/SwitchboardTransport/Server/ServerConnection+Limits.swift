// text: paths that the program has

import SwitchboardCall
import SwitchboardNetwork

/// The time limits of a server's connection.
extension ServerConnection {
  func startLimits() {
    startHandshakeTimer()
    if let age = core.options.maxConnectionAge { startAgeTimer(age) }
    if let idle = core.options.maxConnectionIdle { watchIdleness(after: idle) }
    watchKeepalive(after: core.options.keepaliveInterval)
  }

  func stopLimits() {
    for timer in [timers.handshake, timers.age, timers.idle] {
      if let timer { loop.cancel(timer) }
    }
    timers = Timers()
  }

  struct Timers {
    var handshake: LoopTimer?
    var age: LoopTimer?
    var idle: LoopTimer?
  }

  private func makeTimer(after delay: Duration, _ action: @escaping () -> Void) -> LoopTimer {
    let timer = LoopTimer(action)
    loop.schedule(timer, after: delay)
    return timer
  }

  private func startHandshakeTimer() {
    timers.handshake = makeTimer(after: core.options.handshakeTimeout) {
      self.report(.handshakeTimeout)
      self.close(.handshakeTimeout)
    }
  }

  func stopHandshakeTimer() {
    if let timer = timers.handshake { loop.cancel(timer) }
    timers.handshake = nil
  }

  /// The age varies by a tenth, so that connections that began together do not end together.
  private func startAgeTimer(_ age: Duration) {
    timers.age = makeTimer(after: age * Double.random(in: 0.9...1.1)) {
      self.timers.age = self.drain(orCloseWith: .connectionTooOld)
    }
  }

  private func watchIdleness(after delay: Duration) {
    timers.idle = makeTimer(after: delay) { self.closeIfIdle() }
  }

  private func closeIfIdle() {
    guard let limit = core.options.maxConnectionIdle else { return }
    guard openStreams == 0 else { return watchIdleness(after: limit) }
    let idle = loop.now - min(loop.now, lastCallEnd)
    guard idle >= limit.nanoseconds else {
      return watchIdleness(after: .nanoseconds(Int64(clamping: limit.nanoseconds - idle)))
    }
    timers.idle = drain(orCloseWith: .connectionUnused)
  }

  /// Drains the connection, and returns the timer that closes it if the client does not take part. There is none if it
  /// has closed at once: they would keep each other in memory.
  private func drain(orCloseWith reason: GRPCStatus) -> LoopTimer? {
    drain()
    return isClosed
      ? nil
      : makeTimer(after: core.options.connectionAgeGrace) {
        self.reportCutOff()
        self.close(reason)
      }
  }

  /// Says which calls end with their connection. Streams may have no other end: that is what the age is for.
  private func reportCutOff() {
    guard !isClosed else { return }
    var counts: [String: Int] = [:]
    for method in callsInProgress.compactMap({ $0.head.method?.descriptor }) where method.type == .unary {
      counts[method.path, default: 0] += 1
    }
    guard !counts.isEmpty else { return }
    core.log.agedConnections.log(
      [
        "calls": "\(counts.values.reduce(0, +))", "methods": CutOffCalls.list(counts.map { ($0, $1) }),
        "connectionAgeGrace": core.options.connectionAgeGrace.readable, "peer": peer.address,
      ],
      on: loop
    )
  }

  func checkSilence() -> Keepalive.Action? {
    // The time for the handshake limits a connection that speaks nothing yet.
    withServerSession {
      $0.checkSilence(&keepalive, now: loop.now, lastRead: lastRead, isWriting: socket.isWriting)
    } ?? .wait(keepalive.interval)
  }
}

extension GRPCStatus {
  static let handshakeTimeout = GRPCStatus(
    code: .unavailable,
    message: "the handshake took too long",
    origin: .peer
  )
  static let connectionUnused = GRPCStatus(
    code: .unavailable,
    message: "the connection was not used",
    origin: .library
  )
  static let connectionTooOld = GRPCStatus(
    code: .unavailable,
    message: "the connection reached its maximum age",
    origin: .library
  )
}
