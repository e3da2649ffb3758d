/// The number of subchannels or children of a policy in each state.
package struct StateCounts {
  private(set) var idle = 0
  private(set) var connecting = 0
  private(set) var ready = 0
  private(set) var transientFailure = 0

  package init() {}

  /// Records a change from `old` to `new`. Subchannels that were shut down are not counted.
  package mutating func move(from old: ConnectivityState?, to new: ConnectivityState?) {
    add(-1, to: old)
    add(1, to: new)
  }

  private mutating func add(_ number: Int, to state: ConnectivityState?) {
    switch state {
    case .idle: idle += number
    case .connecting: connecting += number
    case .ready: ready += number
    case .transientFailure: transientFailure += number
    case .shutdown, nil: break
    }
  }

  /// The combined state: the best one of all.
  package var combined: ConnectivityState {
    if ready > 0 { return .ready }
    if connecting > 0 { return .connecting }
    return idle > 0 ? .idle : .transientFailure
  }
}
