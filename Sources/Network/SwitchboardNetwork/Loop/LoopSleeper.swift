// unsafe: libuv: handles owned by one object, callbacks on its own thread; memory of sessions, within bounds
//   that it checks

import SwitchboardCall

extension Loop: TimedEventLoop {
  /// Returns after `duration` by the loop's clock, or throws if the task is cancelled. The loop does not end meanwhile.
  package func sleep(for duration: Duration, isPrecise: Bool) async throws {
    let sleeper = LoopSleeper(self)
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let isAccepted = add(.closure { sleeper.sleep(for: duration, isPrecise: isPrecise, continuation) })
        // A loop that has ended has no timers.
        if !isAccepted { continuation.resume(throwing: CancellationError()) }
      }
    } onCancel: {
      execute { sleeper.cancel() }
    }
  }
}

/// A task that sleeps on a loop.
private final class LoopSleeper: @unchecked Sendable {
  // Sendable because mutable state is touched only on the loop.
  private let loop: Loop
  private var timer: LoopTimer?
  private var continuation: CheckedContinuation<Void, any Error>?
  private var isCancelled = false

  init(_ loop: Loop) { self.loop = loop }

  func sleep(
    for duration: Duration,
    isPrecise: Bool,
    _ continuation: CheckedContinuation<Void, any Error>
  ) {
    guard !isCancelled, !loop.hasEnded else { return continuation.resume(throwing: CancellationError()) }
    self.continuation = continuation
    loop.openHandles += 1
    let timer = LoopTimer(isPrecise: isPrecise) { self.wake(.success(())) }
    self.timer = timer
    loop.schedule(timer, after: max(duration, .zero))
  }

  func cancel() {
    isCancelled = true
    if let timer { loop.cancel(timer) }
    wake(.failure(CancellationError()))
  }

  private func wake(_ result: Result<Void, any Error>) {
    guard let continuation else { return }
    self.continuation = nil
    timer = nil
    loop.openHandles -= 1
    continuation.resume(with: result)
  }
}
