public import SwitchboardCall

/// A recorder that sums up, by method, side and status, what it is told.
public final class CallMetricsTable: CallMetricsRecorder {
  /// What is summed up together.
  public struct Key: Sendable, Hashable {
    /// The path of the method.
    public var path: String
    /// Whether it is the server's side.
    public var isServer: Bool
    /// How the calls ended.
    public var code: GRPCStatus.Code

    /// To look a sum up.
    public init(path: String, isServer: Bool, code: GRPCStatus.Code) {
      self.path = path
      self.isServer = isServer
      self.code = code
    }
  }

  /// What the calls of one key come to.
  public struct Sum: Sendable, Hashable {
    /// How many calls.
    public var calls = 0
    /// How many requests in them.
    public var requests = 0
    /// How many responses in them.
    public var responses = 0
    /// How long they took, together.
    public var duration = Duration.zero
    /// How long the longest took.
    public var longest = Duration.zero
    /// How many took up to 1, 2, 4, 8 … milliseconds; the last has all that took longer.
    public var histogram = [Int](repeating: 0, count: 16)
  }

  private struct State: Sendable {
    var sums: [Key: Sum] = [:]
    var underWay = 0
  }

  private let state = Locked(State())
  private let limit: Int

  /// Keeps sums for up to `limit` keys; calls of further ones, which only a client that makes up its methods has, go
  /// under the path `other`.
  public init(limit: Int = 10_000) {
    self.limit = limit
  }

  /// The sums so far.
  public var sums: [Key: Sum] { state.withLock { $0.sums } }

  /// How many calls have begun and not ended.
  public var underWay: Int { state.withLock { $0.underWay } }

  public func callStarted(path: String, isServer: Bool) { state.withLock { $0.underWay += 1 } }

  public func callEnded(_ call: CallMetrics.Call) {
    let bucket = Self.bucket(of: call.duration)
    state.withLock { state in
      state.underWay -= 1
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
