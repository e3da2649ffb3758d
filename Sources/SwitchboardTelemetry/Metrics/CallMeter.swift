import SwitchboardCall
import Synchronization

/// What is counted of the calls of one method on one side, and on a client to one target: the instruments of gRFCs A66 and
/// A96. Each loop counts in a part of its own, and no loop waits for another or for a reader.
final class CallMeter: Sendable {
  /// A call or an attempt that has ended.
  struct End {
    let code: GRPCStatus.Code
    /// In nanoseconds.
    let duration: Int
    let sentBytes: Int
    let receivedBytes: Int
    let exemplar: Exemplar?
  }

  /// What is counted of calls that end with one status.
  struct Cells: Sendable {
    var duration: HistogramCells
    var sent: HistogramCells
    var received: HistogramCells
    /// Of calls with all their attempts; on clients.
    var whole: HistogramCells
  }

  /// What is counted of calls that were repeated. Most never are, so few meters have them.
  struct Repetitions: Sendable {
    var retries = HistogramCells(.retries)
    var transparent = HistogramCells(.transparentRetries)
    var hedges = HistogramCells(.retries)
    var delay = HistogramCells(.latency)
  }

  static let statusCount = 17

  /// The labels of the method and the target.
  let attributes: [Attribute]
  /// With the optional ones, which what is measured of attempts has too.
  let attemptAttributes: [Attribute]
  /// Whether another meter counts the beginnings and the calls.
  let countsAttemptsOnly: Bool
  private let bounds: Bounds?
  /// The statuses that have series, as bits.
  private let statuses = Atomic<UInt32>(0)
  /// By the numbers of the loops.
  private let loops = Locked<[LoopMeter?]>([])

  /// How many series there may be, of all meters together, and what counts the calls of further ones.
  struct Bounds: Sendable {
    let left: SeriesBudget
    let rest: @Sendable () -> CallMeter?
  }

  /// Without bounds, there is a series for each status.
  init(
    _ attributes: [Attribute],
    attemptAttributes: [Attribute]? = nil,
    countsAttemptsOnly: Bool = false,
    _ bounds: Bounds? = nil
  ) {
    self.attributes = attributes
    self.attemptAttributes = attemptAttributes ?? attributes
    self.countsAttemptsOnly = countsAttemptsOnly
    self.bounds = bounds
  }

  /// The part in which the loop of this number counts.
  func onLoop(_ number: Int) -> LoopMeter {
    loops.withLock { loops in
      while loops.count <= number { loops.append(nil) }
      if let known = loops[number] { return known }
      let made = LoopMeter(number)
      loops[number] = made
      return made
    }
  }

  /// Servers choose statuses, and with many methods each of them counts.
  func mayHave(_ code: GRPCStatus.Code) -> Bool {
    guard let bounds else { return true }
    let bit = UInt32(1) << UInt32(code.rawValue)
    if statuses.load(ordering: .relaxed) & bit != 0 { return true }
    // The first counts with the meter itself.
    if statuses.compareExchange(expected: 0, desired: bit, ordering: .relaxed).exchanged { return true }
    guard bounds.left.take() else { return false }
    // Another thread may have been faster.
    if statuses.bitwiseOr(bit, ordering: .relaxed).oldValue & bit != 0 { bounds.left.giveBack() }
    return true
  }

  /// What counts the calls that this one has no series for.
  var rest: CallMeter? { bounds?.rest() }

  // MARK: Reading

  /// The sums of all loops.
  func read() -> (started: Int, cells: [Cells?], repetitions: Repetitions?) {
    var started: UInt64 = 0
    var cells = [Cells?](repeating: nil, count: Self.statusCount)
    var repetitions: Repetitions?
    for case let loop? in loops.withLock({ $0 }) {
      let part = loop.read()
      started &+= part.started
      for (index, more) in part.cells { cells[index] = cells[index]?.adding(more.read()) ?? more.read() }
      if let more = part.repetitions { repetitions = repetitions?.adding(more) ?? more }
    }
    return (Int(truncatingIfNeeded: started), cells, repetitions)
  }
}

extension CallMeter.Cells {
  fileprivate func adding(_ other: Self) -> Self {
    var sum = self
    sum.duration.add(other.duration)
    sum.sent.add(other.sent)
    sum.received.add(other.received)
    sum.whole.add(other.whole)
    return sum
  }
}

extension CallMeter.Repetitions {
  fileprivate func adding(_ other: Self) -> Self {
    var sum = self
    sum.retries.add(other.retries)
    sum.transparent.add(other.transparent)
    sum.hedges.add(other.hedges)
    sum.delay.add(other.delay)
    return sum
  }
}

/// How many more series there may be.
final class SeriesBudget: Sendable {
  private let left: Atomic<Int>

  init(_ count: Int) {
    left = Atomic(count)
  }

  func take() -> Bool {
    if left.wrappingSubtract(1, ordering: .relaxed).oldValue > 0 { return true }
    giveBack()
    return false
  }

  func giveBack() { left.wrappingAdd(1, ordering: .relaxed) }
}
