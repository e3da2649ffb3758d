/// Where a call goes, as the seeds' `GRPCRequestOptions` has it.
public struct RequestOptions: Hashable, Sendable {
  /// Whether a call may be made again, or answered from a cache.
  public enum Safety: Sendable {
    case `default`
    case idempotentRequest
    case cacheableRequest
  }

  public var host: String
  public var path: String
  public var safety: Safety

  public init(host: String, path: String, safety: Safety = .default) {
    self.host = host
    self.path = path
    self.safety = safety
  }
}
