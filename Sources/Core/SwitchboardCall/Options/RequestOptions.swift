/// Where a call goes, and whether it may be repeated.
public struct RequestOptions: Hashable, Sendable {
  /// Whether a call may be repeated or cached.
  public enum Safety: Sendable {
    /// The call may be neither repeated nor cached.
    case `default`
    /// Making the call twice has the same effect as making it once.
    case idempotentRequest
    /// Equal requests get equal responses for a while.
    case cacheableRequest
  }

  /// The target that the call's channel connects to.
  public var host: String
  /// `/package.Service/Method`
  public var path: String
  /// Whether the call may be repeated or cached.
  public var safety: Safety

  /// By default, the call may be neither repeated nor cached.
  public init(host: String, path: String, safety: Safety = .default) {
    self.host = host
    self.path = path
    self.safety = safety
  }
}
