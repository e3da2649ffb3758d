import SwitchboardCall
import Synchronization

/// What is counted of the calls of one method on one side, and on a client to one target: the instruments of gRFCs A66 and
/// A96.
///
/// Threads of different loops count in shards of their own, so that they seldom wait for each other.
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
    var duration = HistogramCells(.latency)
    var sent = HistogramCells(.size)
    var received = HistogramCells(.size)
    /// Of calls with all their attempts; on clients.
    var whole = HistogramCells(.latency)
  }

  /// What is counted of calls that were repeated. Most never are, so few meters have them.
  struct Repetitions: Sendable {
    var retries = HistogramCells(.retries)
    var transparent = HistogramCells(.transparentRetries)
    var hedges = HistogramCells(.retries)
    var delay = HistogramCells(.latency)
  }

  private struct Shard: Sendable {
    /// By the status codes.
    var cells = [Cells?](repeating: nil, count: CallMeter.statusCount)
    var repetitions: Repetitions?

    /// Returns `false` if the meter may have no series with this status.
    @inline(__always)
    mutating func makeCells(_ code: GRPCStatus.Code, _ meter: CallMeter) -> Bool {
      if cells[code.rawValue] != nil { return true }
      guard meter.mayHave(code) else { return false }
      cells[code.rawValue] = Cells()
      return true
    }
  }

  static let statusCount = 17
  private static let shardCount = 4

  /// The labels of the method and the target.
  let attributes: [Attribute]
  private let shards: [ShardBox]
  private let bounds: Bounds?
  /// The statuses that have series, as bits.
  private let statuses = Atomic<UInt32>(0)

  /// How many series there may be, of all meters together, and what counts the calls of further ones.
  struct Bounds: Sendable {
    let left: SeriesBudget
    let rest: @Sendable () -> CallMeter?
  }

  private final class ShardBox: Sendable {
    let started = Atomic(0)
    let shard = Locked(Shard())
  }

  /// Without bounds, there is a series for each status.
  init(_ attributes: [Attribute], _ bounds: Bounds? = nil) {
    self.attributes = attributes
    self.bounds = bounds
    shards = (0..<Self.shardCount).map { _ in ShardBox() }
  }

  /// The shard of the thread's loop.
  @inline(__always)
  private var shard: ShardBox {
    let address = UInt(bitPattern: LoopOfThread.address)
    return shards[Int((address >> 6 ^ address >> 12) % UInt(Self.shardCount))]
  }

  /// Servers choose statuses, and with many methods each of them counts.
  private func mayHave(_ code: GRPCStatus.Code) -> Bool {
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

  func callStarted() { shard.started.wrappingAdd(1, ordering: .relaxed) }

  /// An attempt or a server's call has ended; `whole` is the duration of the client's call that ends with it.
  func callEnded(_ end: End, whole: Int?) {
    let isCounted = shard.shard.withLock { shard in
      guard shard.makeCells(end.code, self) else { return false }
      shard.cells[end.code.rawValue]?.add(end, whole: whole)
      return true
    }
    if !isCounted { bounds?.rest()?.callEnded(end, whole: whole) }
  }

  /// A client's call has ended apart from its attempts.
  func wholeCallEnded(_ code: GRPCStatus.Code, _ duration: Int, _ exemplar: Exemplar?) {
    let isCounted = shard.shard.withLock { shard in
      guard shard.makeCells(code, self) else { return false }
      shard.cells[code.rawValue]?.whole.record(duration, .latency, exemplar)
      return true
    }
    if !isCounted { bounds?.rest()?.wholeCallEnded(code, duration, exemplar) }
  }

  /// A call was repeated. Zeros are not reported.
  func wasRepeated(retries: Int, transparent: Int, hedges: Int, delay: Int) {
    shard.shard.withLock { shard in
      var repetitions = shard.repetitions ?? Repetitions()
      shard.repetitions = nil
      if retries > 0 { repetitions.retries.record(retries, .retries) }
      if transparent > 0 { repetitions.transparent.record(transparent, .transparentRetries) }
      if hedges > 0 { repetitions.hedges.record(hedges, .retries) }
      if delay > 0 { repetitions.delay.record(delay, .latency) }
      shard.repetitions = repetitions
    }
  }

  // MARK: Reading

  /// The sums of all shards.
  func read() -> (started: Int, cells: [Cells?], repetitions: Repetitions?) {
    var started = 0
    var cells = [Cells?](repeating: nil, count: Self.statusCount)
    var repetitions: Repetitions?
    for box in shards {
      let shard = box.shard.withLock { $0 }
      started += box.started.load(ordering: .relaxed)
      for (index, more) in shard.cells.enumerated() {
        guard let more else { continue }
        cells[index] = cells[index]?.adding(more) ?? more
      }
      if let more = shard.repetitions { repetitions = repetitions?.adding(more) ?? more }
    }
    return (started, cells, repetitions)
  }
}

extension CallMeter.Cells {
  fileprivate mutating func add(_ end: CallMeter.End, whole wholeDuration: Int?) {
    duration.record(end.duration, .latency, end.exemplar)
    if let wholeDuration { whole.record(wholeDuration, .latency, end.exemplar) }
    sent.record(end.sentBytes, .size)
    received.record(end.receivedBytes, .size)
  }

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
