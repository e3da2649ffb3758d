/// The contents of an OpenAPI document that `.proto` files do not determine.
public struct OpenAPIOptions: Hashable, Sendable {
  /// How clients authenticate.
  public enum Security: Hashable, Sendable {
    /// A token in `authorization: Bearer`.
    case bearer
    /// A user name and a password.
    case basic
    /// A key in a header with this name.
    case apiKey(header: String)
  }

  /// The title of the API; by default, the names of its services.
  public var title = ""
  /// The version of the API, not of OpenAPI.
  public var version = "1.0.0"
  /// What the API is, in Markdown.
  public var description = ""
  /// The URLs at which the API is served.
  public var servers: [String] = []
  /// The ways to authenticate, each of which is sufficient; empty if none is needed.
  public var security: [Security] = []
  /// Whether fields have the names of the `.proto` file instead of their JSON names, for servers that write JSON with
  /// these names.
  public var usesProtoFieldNames = false

  /// The defaults: titled by the services, without servers or security.
  public init() {}
}

extension OpenAPIOptions.Security {
  /// Parses `bearer`, `basic` or `apiKey:HEADER`; `nil` for any other text.
  package init?(_ text: String) {
    switch text {
    case "bearer": self = .bearer
    case "basic": self = .basic
    default:
      guard text.hasPrefix("apiKey:"), text.utf8.count > "apiKey:".utf8.count else { return nil }
      self = .apiKey(header: String(text.dropFirst("apiKey:".count)))
    }
  }
}
