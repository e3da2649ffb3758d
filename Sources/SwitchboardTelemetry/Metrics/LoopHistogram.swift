import SwitchboardCall
import Synchronization

/// The counts of one histogram that one loop alone writes, without a lock, and any thread reads. The reader may find a value
/// in the counts that is not in the sum yet.
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
  /// By the one thread that writes it: other threads see each value, but none of them may add too.
  @inline(__always)
  func add(_ amount: UInt64) { store(load(ordering: .relaxed) &+ amount, ordering: .relaxed) }
}

/// What one loop counts of the calls of a meter that end with one status.
final class LoopCells: Sendable {
  private let duration = LoopHistogram<42>()
  private let sent = LoopHistogram<15>()
  private let received = LoopHistogram<15>()
  /// Of calls with all their attempts; on clients.
  private let whole = LoopHistogram<42>()
  /// Of recorded traces, which few are, by the buckets.
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
