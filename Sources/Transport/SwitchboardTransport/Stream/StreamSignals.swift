import Synchronization

/// The requests of other threads to a stream, as bits in its `signals`, and the number of its handlers that have
/// returned there.
struct StreamSignals: OptionSet {
  let rawValue: Int

  static let start = StreamSignals(rawValue: 1)
  static let readable = StreamSignals(rawValue: 2)
  static let credit = StreamSignals(rawValue: 4)
  static let end = StreamSignals(rawValue: 8)
  static let cancel = StreamSignals(rawValue: 16)
  static let headers = StreamSignals(rawValue: 32)

  /// A call has several handlers if its interceptors repeat it. All may return before the loop learns of the first.
  fileprivate static let oneReturned = 1 << 32
  var returned: Int { rawValue >> 32 }
}

extension Atomic<Int> {
  /// Returns `true` if no bit was set before. The caller must then ensure that `takeSignals` is called.
  borrowing func set(_ signal: StreamSignals) -> Bool {
    bitwiseOr(signal.rawValue, ordering: .acquiringAndReleasing).oldValue == 0
  }

  /// Adds a handler that has returned. The result is that of `set`.
  borrowing func addReturned() -> Bool {
    wrappingAdd(StreamSignals.oneReturned, ordering: .acquiringAndReleasing).oldValue == 0
  }

  borrowing func takeSignals() -> StreamSignals {
    StreamSignals(rawValue: exchange(0, ordering: .acquiringAndReleasing))
  }
}
