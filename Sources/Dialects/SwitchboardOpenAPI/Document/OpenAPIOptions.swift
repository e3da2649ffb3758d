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
  /// The URLs at which the API is served, with a scheme, or relative to that of the document: `https://api.example/v1`, `/v1`.
  public var servers: [String] = []
  /// The ways to authenticate, each of which is sufficient; empty if none is needed.
  public var security: [Security] = []
  /// Whether fields have the names of the `.proto` file instead of their JSON names, for servers that write JSON with
  /// these names.
  public var usesProtoFieldNames = false

  /// The defaults: titled by the services, without servers or security.
  public init() {}
}

extension OpenAPIOptions {
  /// Whether a URL without a scheme begins as a host does, and not as a path.
  static func lacksScheme(_ url: String) -> Bool {
    let first = url.utf8.prefix { $0 != UInt8(ascii: "/") }
    guard let start = first.first, !"./{".utf8.contains(start), first.last != UInt8(ascii: ":") else {
      return false
    }
    return first.contains { $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: ":") }
      || first.elementsEqual("localhost".utf8)
  }
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
