import BenchService
import Foundation
import Switchboard

/// Makes calls of all kinds with injected faults, in rounds. Each round creates and releases its own servers and
/// channels, so objects that remain after it, and did not after the first, are a leak.
struct Soak {
  private let seconds: Int

  init(_ arguments: inout Arguments) throws {
    seconds = try arguments.nextCount("SECONDS")
    try arguments.end()
  }

  /// The tolerated growth between the first round and the last: buffers of the allocator and the runtime.
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
    print("no calls lost and no leaks in \(Int((ContinuousClock.now - start) / .seconds(1))) s")
  }

  private func complaints(of levels: [SoakLevel]) -> [String] {
    // Every round releases everything it created; the heap is warm after one round with TLS and one without.
    let (warm, last) = (levels[1], levels[levels.count - 1])
    let descriptors = levels.map(\.descriptors).min() ?? 0
    let threads = levels.map(\.threads).min() ?? 0
    var complaints: [String] = []
    for (number, level) in levels.enumerated() where level.objects > 0 {
      complaints.append("\(level.objects) objects remain after round \(number + 1)")
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
