import SwitchboardCall
import Synchronization

/// A histogram that only one loop writes, without a lock, and that any thread may read. A reader may see a value in the
/// counts before it is in the sum.
struct LoopHistogram<let bucketCount: Int>: ~Copyable, Sendable {
  private let counts: InlineArray<bucketCount, Atomic<UInt64>>
  private let sum = Atomic(0)

  init() {
    counts = InlineArray { _ in Atomic(0) }
  }

  @inline(__always)
  func record(_ value: Int, bucket: Int) {
    guard bucket < bucketCount else { return }
    counts[bucket].add(1)
    sum.store(sum.load(ordering: .relaxed) &+ value, ordering: .relaxed)
  }

  func read() -> HistogramCells {
    HistogramCells(
      counts: (0..<bucketCount).map { counts[$0].load(ordering: .relaxed) },
      sum: sum.load(ordering: .relaxed)
    )
  }
}

extension Atomic<UInt64> {
  /// Adds without a read-modify-write instruction. Only one thread may add; others may read.
  @inline(__always)
  func add(_ amount: UInt64) { store(load(ordering: .relaxed) &+ amount, ordering: .relaxed) }
}

/// The counts of one loop of a meter's calls that ended with the same status.
final class LoopCells: Sendable {
  private let duration = LoopHistogram<42>()
  private let sent = LoopHistogram<15>()
  private let received = LoopHistogram<15>()
  /// The duration of calls with all their attempts. Clients only.
  private let whole = LoopHistogram<42>()
  /// The exemplars, by their buckets. They are locked because few traces are recorded.
  private let exemplars = Locked<[Int: Exemplar]>([:])
  private let wholeExemplars = Locked<[Int: Exemplar]>([:])

  @inline(__always)
  func record(_ end: CallMeter.End, whole wholeDuration: Int?) {
    let bucket = HistogramBounds.latencyBucket(of: end.duration)
    duration.record(end.duration, bucket: bucket)
    sent.record(end.sentBytes, bucket: HistogramBounds.sizeBucket(of: end.sentBytes))
    received.record(end.receivedBytes, bucket: HistogramBounds.sizeBucket(of: end.receivedBytes))
    if let exemplar = end.exemplar { exemplars.withLock { $0[bucket] = exemplar } }
    if let wholeDuration { record(whole: wholeDuration, end.exemplar) }
  }

  @inline(__always)
  func record(whole duration: Int, _ exemplar: Exemplar?) {
    let bucket = HistogramBounds.latencyBucket(of: duration)
    whole.record(duration, bucket: bucket)
    if let exemplar { wholeExemplars.withLock { $0[bucket] = exemplar } }
  }

  func read() -> CallMeter.Cells {
    var cells = CallMeter.Cells(
      duration: duration.read(),
      sent: sent.read(),
      received: received.read(),
      whole: whole.read()
    )
    cells.duration.exemplars = exemplars.withLock { $0 }
    cells.whole.exemplars = wholeExemplars.withLock { $0 }
    return cells
  }
}
