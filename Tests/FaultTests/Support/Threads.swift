import Foundation

/// Runs what blocks on a thread of its own, and waits for it without a thread of Swift's.
func onThread<Result: Sendable>(_ body: @escaping @Sendable () -> Result) async -> Result {
  await withCheckedContinuation { continuation in
    Thread { continuation.resume(returning: body()) }.start()
  }
}
