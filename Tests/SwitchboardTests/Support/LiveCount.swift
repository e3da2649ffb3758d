import Switchboard
import Synchronization

/// The number of live objects.
final class LiveCount: Sendable {
  private let value = Atomic(0)
  private let made = Atomic(0)

  var count: Int { value.load(ordering: .relaxed) }

  /// How many there have been.
  var total: Int { made.load(ordering: .relaxed) }

  func add(_ change: Int) {
    value.wrappingAdd(change, ordering: .relaxed)
    if change > 0 { made.wrappingAdd(change, ordering: .relaxed) }
  }
}

final class CountedClientInterceptor: EchoClientInterceptor {
  private let live: LiveCount

  init(_ live: LiveCount) {
    self.live = live
    live.add(1)
  }

  deinit { live.add(-1) }
}

final class CountedServerInterceptor: EchoServerInterceptor {
  private let live: LiveCount

  init(_ live: LiveCount) {
    self.live = live
    live.add(1)
  }

  deinit { live.add(-1) }
}
