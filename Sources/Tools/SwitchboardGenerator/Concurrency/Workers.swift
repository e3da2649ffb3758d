/// Work on several threads at once whose results are taken in order, so that they do not depend on the number of
/// threads.
package struct Workers: Sendable {
  /// The number of threads; with one, everything runs in the caller's.
  package let count: Int

  /// More would wait for memory and for the system's files.
  private static let most = 16

  /// At least one thread, and not more than make sense.
  package init(_ count: Int) { self.count = min(max(count, 1), Workers.most) }

  /// Calls `work` for every number below `total` on the threads, and `take` with its results one by one, in the order of
  /// the numbers.
  ///
  /// Work runs only a little ahead of the result that `take` needs next, so that few results are in memory. If `take`
  /// throws, no further work is started.
  package func run<Result: Sendable, Failure: Error>(
    _ total: Int,
    _ work: @escaping @Sendable (_ number: Int) -> Result,
    take: (Result) throws(Failure) -> Void
  ) async throws(Failure) {
    guard count > 1, total > 1 else {
      for number in 0..<total { try take(work(number)) }
      return
    }
    let failure = await withTaskGroup(of: (number: Int, result: Result).self) { group -> Failure? in
      var started = 0
      var running = 0
      var taken = 0
      var early: [Int: Result] = [:]
      while true {
        while running < count, started < min(total, taken + 4 * count) {
          let number = started
          group.addTask { (number, work(number)) }
          started += 1
          running += 1
        }
        guard let done = await group.next() else { return nil }
        running -= 1
        early[done.number] = done.result
        do throws(Failure) {
          while let result = early.removeValue(forKey: taken) {
            taken += 1
            try take(result)
          }
        } catch {
          // The group still waits for the work that has begun.
          return error
        }
      }
    }
    if let failure { throw failure }
  }

  /// The results of `work` for every number below `total`, in order.
  package func map<Result: Sendable>(
    _ total: Int,
    _ work: @escaping @Sendable (_ number: Int) -> Result
  ) async -> [Result] {
    var results: [Result] = []
    results.reserveCapacity(total)
    await run(total, work) { results.append($0) }
    return results
  }
}
