/// Where a call goes, as the seeds' `GRPCRequestOptions` has it.
public struct RequestOptions: Hashable, Sendable {
  /// Whether a call may be made again, or answered from a cache.
  public enum Safety: Sendable {
    /// Neither.
    case `default`
    /// Making the call twice is as good as making it once.
    case idempotentRequest
    /// The same request gets the same response for a while.
    case cacheableRequest
  }

  /// The target that the call's channel connects to.
  public var host: String
  /// `/package.Service/Method`
  public var path: String
  /// Whether the call may be repeated or cached.
  public var safety: Safety

  /// A call that may neither be repeated nor cached, unless `safety` says so.
  public init(host: String, path: String, safety: Safety = .default) {
    self.host = host
    self.path = path
    self.safety = safety
  }
}
