import ConsoleMessages
import SwitchboardNetwork

/// What loops did at many moments: for each loop the phases of its turns, and in these the methods.
struct LoopProfile: Sendable {
  /// What a loop did at a moment.
  private struct Activity: Hashable, Sendable {
    let loop: Int
    /// `nil`: it waited for something to do.
    let phase: LoopActivity.Phase?
    /// Zero if it was no method's work.
    let method: UInt
  }

  private var counts: [Activity: Int] = [:]
  private(set) var looks = 0
  /// Whether there were more methods than are kept.
  private(set) var isCut = false

  /// The most activities that are told apart. Further methods count as none.
  static let most = 2000

  /// Adds what each of the loops does now.
  mutating func add(_ sights: [LoopActivity.Sight]) {
    looks += 1
    for (loop, sight) in sights.enumerated() {
      let phase = sight.isWorking ? sight.phase : nil
      var activity = Activity(loop: loop, phase: phase, method: phase == nil ? 0 : sight.method)
      if activity.method != 0, counts[activity] == nil, counts.count >= Self.most {
        isCut = true
        activity = Activity(loop: loop, phase: phase, method: 0)
      }
      counts[activity, default: 0] += 1
    }
  }

  /// The tree, in the order in which it is drawn: each frame after that which contains it, longer ones first.
  func frames(loops: [String], method: (UInt) -> String) -> [Switchboard_Console_V1_Frame] {
    var frames: [Switchboard_Console_V1_Frame] = []
    func add(_ name: String, _ depth: Int, _ count: Int) {
      frames.append(.with { ($0.name, $0.depth, $0.count) = (name, UInt32(depth), UInt32(clamping: count)) })
    }
    let byLoop = Dictionary(grouping: counts) { $0.key.loop }
    for (index, name) in loops.enumerated() {
      let own = byLoop[index] ?? []
      add(name, 0, own.reduce(0) { $0 + $1.value })
      for (phase, parts) in Self.sorted(Dictionary(grouping: own) { $0.key.phase }.map { ($0.key, $0.value) })
      {
        add(phase.shown, 1, Self.sum(parts))
        let methods = Dictionary(grouping: parts.filter { $0.key.method != 0 }) { method($0.key.method) }
        for (name, parts) in Self.sorted(methods.map { ($0.key, $0.value) }) { add(name, 2, Self.sum(parts)) }
      }
    }
    return frames
  }

  private typealias Counts = [(key: Activity, value: Int)]

  private static func sum(_ counts: Counts) -> Int { counts.reduce(0) { $0 + $1.value } }

  private static func sorted<Name>(_ groups: [(Name, Counts)]) -> [(Name, Counts)] {
    groups.sorted { sum($0.1) > sum($1.1) }
  }
}

extension LoopActivity.Phase? {
  fileprivate var shown: String {
    switch self {
    case nil: "idle"
    case .events: "reads from sockets"
    case .timers: "runs timers"
    case .jobs: "goes on with tasks"
    case .flushes: "writes to sockets"
    }
  }
}
