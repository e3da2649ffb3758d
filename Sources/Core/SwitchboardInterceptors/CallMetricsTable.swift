public import SwitchboardCall

/// A recorder that aggregates calls by method, side and status.
public final class CallMetricsTable: CallMetricsRecorder {
  /// What the calls of one sum have in common.
  public struct Key: Sendable, Hashable {
    /// The path of the method.
    public var path: String
    /// Whether this is the server's side.
    public var isServer: Bool
    /// The status code of the calls.
    public var code: GRPCStatus.Code

    /// A key for looking up a sum.
    public init(path: String, isServer: Bool, code: GRPCStatus.Code) {
      self.path = path
      self.isServer = isServer
      self.code = code
    }
  }

  /// The totals for the calls of one key.
  public struct Sum: Sendable, Hashable {
    /// The number of calls.
    public var calls = 0
    /// The number of their requests.
    public var requests = 0
    /// The number of their responses.
    public var responses = 0
    /// Their total duration.
    public var duration = Duration.zero
    /// The longest duration.
    public var longest = Duration.zero
    /// The number of calls that took up to 1, 2, 4, 8 … milliseconds; the last element counts all longer ones.
    public var histogram = [Int](repeating: 0, count: 16)
  }

  private struct State: Sendable {
    var sums: [Key: Sum] = [:]
    var callsInProgress = 0
  }

  private let state = Locked(State())
  private let limit: Int

  /// Keeps totals for up to `limit` keys; calls with further keys count under the path `other`. Only clients that make
  /// up method names reach the limit.
  public init(limit: Int = 10_000) {
    self.limit = limit
  }

  /// The totals so far.
  public var sums: [Key: Sum] { state.withLock { $0.sums } }

  /// The number of calls in progress.
  public var callsInProgress: Int { state.withLock { $0.callsInProgress } }

  public func callStarted(path: String, isServer: Bool) { state.withLock { $0.callsInProgress += 1 } }

  public func callEnded(_ call: CallMetrics.Call) {
    let bucket = Self.bucket(of: call.duration)
    state.withLock { state in
      state.callsInProgress -= 1
      var key = Key(path: call.path, isServer: call.isServer, code: call.code)
      if state.sums[key] == nil, state.sums.count >= limit { key.path = "other" }
      var sum = state.sums[key] ?? Sum()
      sum.calls += 1
      sum.requests += call.requests
      sum.responses += call.responses
      sum.duration += call.duration
      sum.longest = max(sum.longest, call.duration)
      sum.histogram[bucket] += 1
      state.sums[key] = sum
    }
  }

  private static func bucket(of duration: Duration) -> Int {
    var bound = Duration.milliseconds(1)
    for index in 0..<15 {
      if duration <= bound { return index }
      bound *= 2
    }
    return 15
  }
}
