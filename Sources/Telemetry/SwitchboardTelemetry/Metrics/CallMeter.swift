import SwitchboardCall
import Synchronization

/// Counts the calls of one method on one side, for a client those to one target (gRFCs A66 and A96). Each loop has a
/// part of its own to count in, so that it waits neither for other loops nor for readers.
final class CallMeter: Sendable {
  /// A call or an attempt that has ended.
  struct End {
    let code: GRPCStatus.Code
    /// The duration in nanoseconds.
    let duration: Int
    let sentBytes: Int
    let receivedBytes: Int
    let exemplar: Exemplar?
  }

  /// The histograms of calls that ended with the same status.
  struct Cells: Sendable {
    var duration: HistogramCells
    var sent: HistogramCells
    var received: HistogramCells
    /// The duration of calls with all their attempts. Clients only.
    var whole: HistogramCells
  }

  /// The histograms of calls that had several attempts. Few meters have such calls.
  struct Repetitions: Sendable {
    var retries = HistogramCells(.retries)
    var transparent = HistogramCells(.transparentRetries)
    var hedges = HistogramCells(.retries)
    var delay = HistogramCells(.latency)
  }

  static let statusCount = 17

  /// The labels of the method and the target.
  let attributes: [Attribute]
  /// These labels and the optional ones, for the metrics of attempts.
  let attemptAttributes: [Attribute]
  /// Decides which of the calls are worth a look.
  let called: CalledMethod
  /// Whether another meter counts the starts and the whole calls.
  let countsAttemptsOnly: Bool
  private let bounds: Bounds?
  /// The statuses that have series. Each is a bit.
  private let statuses = Atomic<UInt32>(0)
  /// The parts, by the numbers of their loops.
  private let loops = Locked<[LoopMeter?]>([])

  /// The number of series that all meters together may still add, and the meter that counts calls beyond that.
  struct Bounds: Sendable {
    let left: SeriesBudget
    let rest: @Sendable () -> CallMeter?
  }

  /// Without `bounds`, each status has a series.
  init(
    _ attributes: [Attribute],
    attemptAttributes: [Attribute]? = nil,
    countsAttemptsOnly: Bool = false,
    called: CalledMethod = .none,
    _ bounds: Bounds? = nil
  ) {
    self.called = called
    self.attributes = attributes
    self.attemptAttributes = attemptAttributes ?? attributes
    self.countsAttemptsOnly = countsAttemptsOnly
    self.bounds = bounds
  }

  /// The part in which the loop with this number counts.
  func onLoop(_ number: Int) -> LoopMeter {
    loops.withLock { loops in
      while loops.count <= number { loops.append(nil) }
      if let known = loops[number] { return known }
      let made = LoopMeter(number)
      loops[number] = made
      return made
    }
  }

  /// Whether there may be a series for this status. Servers choose the statuses, which multiply with the methods.
  func mayHave(_ code: GRPCStatus.Code) -> Bool {
    guard let bounds else { return true }
    let bit = UInt32(1) << UInt32(code.rawValue)
    if statuses.load(ordering: .relaxed) & bit != 0 { return true }
    // The first status is included in the limit of meters.
    if statuses.compareExchange(expected: 0, desired: bit, ordering: .relaxed).exchanged { return true }
    guard bounds.left.take() else { return false }
    // Another thread may have set the bit in the meantime.
    if statuses.bitwiseOr(bit, ordering: .relaxed).oldValue & bit != 0 { bounds.left.giveBack() }
    return true
  }

  /// Counts the calls for which this meter may have no series.
  var rest: CallMeter? { bounds?.rest() }

  // MARK: Reading

  /// Adds up the parts of all loops.
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

/// The number of series that may still be added.
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
