import SwitchboardBalancing
import SwitchboardCall
import SwitchboardHTTP2

/// The URL of a collector, in its parts.
struct OTLPEndpoint: Sendable, Hashable {
  let isSecure: Bool
  /// The host, without the brackets of an IPv6 address.
  let host: String
  let port: Int
  /// The path with its first slash. Empty if there is none.
  let path: String

  /// Throws `INVALID_ARGUMENT` if the URL is invalid. `defaultPort` is the protocol's port.
  init(_ url: String, defaultPort: Int) throws(GRPCStatus) {
    let parts = url.schemeAndRest
    switch parts?.scheme.lowercased() {
    case nil, "http": isSecure = false
    case "https": isSecure = true
    default: throw .notAnEndpoint(url)
    }
    let rest = parts?.rest ?? url[...]
    let authority = rest.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
    path = String(rest[authority.endIndex...].prefix { $0 != "?" && $0 != "#" })
    guard !authority.contains("@"), !authority.contains(where: \.isWhitespace),
      path.utf8.allSatisfy({ (0x21...0x7e).contains($0) })
    else { throw .notAnEndpoint(url) }
    var portText: Substring?
    if authority.first == "[", let end = authority.firstIndex(of: "]") {
      host = String(authority[authority.index(after: authority.startIndex)..<end])
      let tail = authority[authority.index(after: end)...]
      if !tail.isEmpty { portText = tail.first == ":" ? tail.dropFirst() : "-" }
    } else {
      let parts = authority.split(separator: ":", omittingEmptySubsequences: false)
      guard parts.count <= 2, let name = parts.first else { throw .notAnEndpoint(url) }
      host = String(name)
      if parts.count == 2 { portText = parts[1] }
    }
    port = portText.map { Int($0) ?? -1 } ?? defaultPort
    guard !host.isEmpty, (1...65535).contains(port) else { throw .notAnEndpoint(url) }
  }

  /// The host and the port, as a channel's target or as the authority of a request.
  var target: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }
}

extension GRPCStatus {
  static func notAnEndpoint(_ url: String) -> GRPCStatus {
    GRPCStatus(
      code: .invalidArgument,
      message: "'\(url)' is not the URL of a collector, such as http://localhost:4317"
    )
  }
}

extension OTLPOptions {
  func makeExporter(
    _ resource: Resource,
    _ clock: TelemetryClock,
    _ group: LoopGroup
  ) throws(GRPCStatus) -> any BatchExporter {
    switch transport {
    case .grpc:
      let endpoint = try OTLPEndpoint(endpoint, defaultPort: 4317)
      return try OTLPGRPCExporter(self, endpoint, resource, clock, group)
    case .http, .httpJSON:
      let endpoint = try OTLPEndpoint(endpoint, defaultPort: 4318)
      return try OTLPHTTPExporter(self, endpoint, resource, clock, group)
    }
  }
}
