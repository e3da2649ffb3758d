import SwitchboardCall
import SwitchboardTransport

/// The console's time, and what it allows the loops of others.
struct ConsoleClock: Sendable {
  let time: any CallTime
  /// The console's own loop, whose thread what it does has to itself, however busy the process is.
  let loop: any EventLoop

  /// How long a loop may take to answer. One that a handler blocks is what somebody looks for on the page, which must not wait
  /// for it.
  static let patience = Duration.milliseconds(500)

  /// What `ask` returns; `nil` if it takes too long. It goes on then.
  func inTime<Answer: Sendable>(
    within patience: Duration = Self.patience,
    _ ask: @escaping @Sendable () async -> Answer?
  ) async -> Answer? {
    let answer = OneShot<Answer?>()
    Task.detached(executorPreference: loop) { answer.settle(.success(await ask())) }
    let alarm = Task.detached(executorPreference: loop) {
      guard (try? await time.sleep(until: time.now.advanced(by: patience), on: loop)) != nil else {
        return
      }
      answer.settle(.success(nil))
    }
    defer { alarm.cancel() }
    return (try? await answer.value()) ?? nil
  }

  /// What `ask` returns, which is cancelled after a while: it must then return soon, with what it has.
  func stopping<Answer: Sendable>(
    after limit: Duration,
    _ ask: @escaping @Sendable () async -> Answer
  ) async -> Answer {
    let end = time.now.advanced(by: limit)
    let asking = Task.detached(executorPreference: loop) { await ask() }
    let alarm = Task.detached(executorPreference: loop) {
      guard (try? await time.sleep(until: end, on: loop)) != nil else { return }
      asking.cancel()
    }
    defer { alarm.cancel() }
    return await asking.value
  }

  /// A snapshot of a server without its connections.
  func figures(of server: Server) async -> ServerSnapshot? {
    await inTime { await server.snapshot(listsConnections: false) }
  }
}
