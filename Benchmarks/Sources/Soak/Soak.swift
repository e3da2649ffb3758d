import BenchService
import Foundation
import Switchboard

/// Calls of all kinds among faults, in rounds. Each round makes its own servers and channels and lets go of them, so
/// that whatever is held after it, and was not after the first, is a leak.
struct Soak {
  private let seconds: Int

  init(_ arguments: inout Arguments) throws {
    seconds = try arguments.nextCount("SECONDS")
    try arguments.end()
  }

  /// What must not grow by more between the first round and the last: buffers of the allocator and of the runtime.
  private static let heapSlack = 4 << 20

  func run() async throws {
    let ledger = SoakLedger()
    let start = ContinuousClock.now
    let end = start + .seconds(seconds)
    let roundLength = Duration.seconds(min(15, max(2, seconds / 5)))
    var levels: [SoakLevel] = []
    repeat {
      let held = HeldObjects()
      try await SoakRound(ledger: ledger, held: held, isSecure: levels.count % 2 == 1).run(for: roundLength)
      levels.append(
        await SoakLevel.settled(held, ledger, expected: levels.min { $0.descriptors < $1.descriptors })
      )
      print("round \(levels.count): \(levels[levels.count - 1])")
      fflush(nil)
    } while ContinuousClock.now < end || levels.count < 3
    print(ledger.summary)
    let complaints = ledger.complaints + complaints(of: levels)
    for complaint in complaints { print("LEAK OR LOSS: \(complaint)") }
    guard complaints.isEmpty else { exit(1) }
    print("nothing lost, nothing left behind in \(Int((ContinuousClock.now - start) / .seconds(1))) s")
  }

  private func complaints(of levels: [SoakLevel]) -> [String] {
    // Every round lets go of all it opened; the heap is warm once rounds of both kinds, with TLS and without, have been.
    let (warm, last) = (levels[1], levels[levels.count - 1])
    let descriptors = levels.map(\.descriptors).min() ?? 0
    let threads = levels.map(\.threads).min() ?? 0
    var complaints: [String] = []
    for (number, level) in levels.enumerated() where level.objects > 0 {
      complaints.append("\(level.objects) objects are held after round \(number + 1)")
    }
    if last.descriptors > descriptors {
      complaints.append("descriptors went from \(descriptors) to \(last.descriptors)")
    }
    if last.threads > threads {
      complaints.append("threads went from \(threads) to \(last.threads)")
    }
    if last.heap > warm.heap + Self.heapSlack {
      complaints.append("the heap went from \(warm.heap) to \(last.heap) bytes")
    }
    return complaints
  }
}
