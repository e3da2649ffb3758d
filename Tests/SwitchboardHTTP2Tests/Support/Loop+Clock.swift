@testable import SwitchboardHTTP2

extension Loop {
  /// Moves the loop's clock; what fell due has been done when this returns.
  func advance(by duration: Duration) async {
    await withCheckedContinuation { continuation in
      execute {
        self.advanceClock(by: duration)
        // What fell due runs first in the next turn.
        self.execute { continuation.resume() }
      }
    }
  }
}
