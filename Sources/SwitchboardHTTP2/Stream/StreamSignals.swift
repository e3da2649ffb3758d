import Synchronization

/// The requests of other threads to a stream, as bits in its `signals`.
struct StreamSignals: OptionSet {
  let rawValue: Int

  static let start = StreamSignals(rawValue: 1)
  static let readable = StreamSignals(rawValue: 2)
  static let credit = StreamSignals(rawValue: 4)
  static let end = StreamSignals(rawValue: 8)
  static let cancel = StreamSignals(rawValue: 16)
  static let returned = StreamSignals(rawValue: 32)
  static let headers = StreamSignals(rawValue: 64)
}

extension Atomic<Int> {
  /// Returns `true` if no bit was set before. The caller must then ensure that `takeSignals` is called.
  borrowing func set(_ signal: StreamSignals) -> Bool {
    bitwiseOr(signal.rawValue, ordering: .acquiringAndReleasing).oldValue == 0
  }

  borrowing func takeSignals() -> StreamSignals {
    StreamSignals(rawValue: exchange(0, ordering: .acquiringAndReleasing))
  }
}
