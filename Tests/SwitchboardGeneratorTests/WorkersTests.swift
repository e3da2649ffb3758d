import SwitchboardGenerator
import Synchronization
import Testing

@Suite("Workers") struct WorkersTests {
  private struct Stop: Error, Equatable { let number: Int }

  private final class Counter: Sendable {
    private let now = Atomic(0)
    private let highest = Atomic(0)

    var most: Int { highest.load(ordering: .relaxed) }

    func add(_ change: Int) {
      highest.max(now.add(change, ordering: .relaxed).newValue, ordering: .relaxed)
    }
  }

  @Test("Results are taken in order", arguments: [1, 2, 3, 16, 1000])
  func order(count: Int) async {
    for total in [0, 1, 2, 500] {
      // Earlier work takes longer than later work.
      let results = await Workers(count).map(total) { number in
        (0..<(total - number) * 10).reduce(number) { sum, next in sum &+ next &- next }
      }
      #expect(results == Array(0..<total))
    }
  }

  @Test("The work that runs or waits to be taken is bounded", arguments: [1, 2, 4])
  func bounds(count: Int) async {
    let running = Counter()
    let waiting = Counter()
    await Workers(count).run(300) { _ in
      running.add(1)
      waiting.add(1)
      running.add(-1)
    } take: {
      waiting.add(-1)
    }
    #expect(running.most <= count)
    #expect(waiting.most <= 4 * count)
  }

  @Test("The first failure in order ends the work", arguments: [1, 2, 8])
  func failures(count: Int) async {
    let begun = Counter()
    var taken: [Int] = []
    await #expect(throws: Stop(number: 40)) {
      try await Workers(count).run(10_000) { number in
        begun.add(1)
        return Result { if number >= 40 && number % 2 == 0 { throw Stop(number: number) } }.map { number }
      } take: { (result: Result<Int, any Error>) throws in
        taken.append(try result.get())
      }
    }
    #expect(taken == Array(0..<40))
    #expect(begun.most <= 41 + 4 * count)
  }

  @Test("There are between 1 and 16 workers")
  func counts() {
    #expect(Workers(0).count == 1)
    #expect(Workers(-3).count == 1)
    #expect(Workers(.max).count == 16)
  }
}
