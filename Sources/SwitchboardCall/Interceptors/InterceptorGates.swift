/// Where a writer waits until what it wrote has gone on.
@usableFromInline
struct InterceptorGate: Sendable {
  let wait: @Sendable () async throws -> Void

  @usableFromInline
  nonisolated(nonsending) func waitUntilWritable() async throws { try await wait() }
}

/// The interceptors of a chain that take messages in themselves, by their places.
struct InterceptorGates {
  private var gates: [(index: Int, gate: () -> InterceptorGate?)] = []

  mutating func add(at index: Int, _ gate: @escaping () -> InterceptorGate?) { gates.append((index, gate)) }

  /// The first one at this place or behind it, on the way that `step` goes.
  func first(from index: Int, towards step: Int) -> InterceptorGate? {
    func distance(_ place: Int) -> Int { (place - index) * step }
    return gates.filter { distance($0.index) >= 0 }.min { distance($0.index) < distance($1.index) }?.gate()
  }
}

extension PartQueue {
  /// Where writers wait until what they wrote has been read.
  var gate: InterceptorGate { InterceptorGate { await self.waitUntilWritable() } }
}

extension EventLoop {
  /// Runs the work on the loop, at once where this is it, and waits for its result.
  func submit<Result: Sendable>(_ work: @escaping @Sendable () throws -> Result) async throws -> Result {
    if inEventLoop { return try work() }
    return try await withCheckedThrowingContinuation { continuation in
      execute { continuation.resume(with: .init { try work() }) }
    }
  }
}
