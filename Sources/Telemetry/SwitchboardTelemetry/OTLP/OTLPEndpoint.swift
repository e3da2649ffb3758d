import SwitchboardBalancing
import SwitchboardCall
import SwitchboardNetwork
import SwitchboardTransport

/// The URL of a collector, in its parts.
struct OTLPEndpoint: Sendable, Hashable, CustomStringConvertible {
  let isSecure: Bool
  /// The host, without the brackets of an IPv6 address.
  let host: String
  let port: Int
  /// The path with its first slash, and the query. Empty if there is neither.
  let path: String

  /// Throws `INVALID_ARGUMENT`, which says what is wrong with the URL and does not quote it: it may contain a password.
  init(_ options: OTLPOptions) throws(GRPCStatus) {
    let url = options.endpoint
    guard url.utf8.allSatisfy({ (0x21...0x7e).contains($0) }) else {
      throw .badEndpoint("has a space or another character that no URL contains")
    }
    guard let (scheme, rest) = url.schemeAndRest else { throw .badEndpoint("has no scheme") }
    switch scheme.lowercased() {
    case "http": isSecure = false
    case "https": isSecure = true
    default: throw .badEndpoint("has a scheme that is neither http nor https")
    }
    let authority = rest.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
    guard !authority.contains("@") else {
      throw .badEndpoint("has user information, which belongs in a header")
    }
    let defaultPort = options.transport == .grpc ? 4317 : 4318
    (host, port) = try Self.hostAndPort(authority, defaultPort: defaultPort)
    let tail = rest[authority.endIndex...]
    guard !tail.contains("#") else { throw .badEndpoint("has a fragment") }
    // Each request is a POST to this path.
    path = tail.first == "?" ? "/\(tail)" : String(tail)
    switch options.transport {
    case .grpc:
      guard tail.isEmpty || tail == "/" else { throw .badEndpoint("has a path, which does not go with gRPC") }
    case .http, .httpJSON:
      guard options.isWholeURL || !tail.contains("?") else {
        throw .badEndpoint("has a query, to which no path can be appended")
      }
      guard options.isWholeURL || !Self.isOfSignal(tail) else {
        throw .badEndpoint("ends with the path of a signal, which is appended to it: leave that out")
      }
    }
  }

  private static func isOfSignal(_ path: Substring) -> Bool {
    TelemetrySignal.allCases.contains {
      path.hasSuffix("/v1/\($0.rawValue)") || path.hasSuffix("/v1/\($0.rawValue)/")
    }
  }

  private static func hostAndPort(
    _ authority: Substring,
    defaultPort: Int
  ) throws(GRPCStatus) -> (String, Int) {
    var host = authority
    var port = defaultPort
    if let colon = authority.lastIndex(of: ":"), !authority[colon...].contains("]") {
      let digits = authority[authority.index(after: colon)...]
      guard digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let number = Int(digits),
        (1...65535).contains(number)
      else { throw .badEndpoint("has a port that is not a number from 1 to 65535") }
      host = authority[..<colon]
      port = number
    }
    if host.hasPrefix("["), host.hasSuffix("]") {
      host = host.dropFirst().dropLast()
    } else if host.contains(where: { "[]:".contains($0) }) {
      throw .badEndpoint(
        "has a host that is neither a name nor an address, or an IPv6 address without brackets"
      )
    }
    guard !host.isEmpty else { throw .badEndpoint("has no host") }
    return (String(host), port)
  }

  /// The host and the port, as a channel's target or as the authority of a request.
  var authority: String { host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)" }

  /// The target of a channel. Its scheme is there because a host could be called `unix`.
  var target: String { "dns:///\(authority)" }

  /// The URL without its path.
  var description: String { "\(isSecure ? "https" : "http")://\(authority)" }
}

extension GRPCStatus {
  fileprivate static func badEndpoint(_ fault: String) -> GRPCStatus {
    badExport(
      "the collector's URL \(fault); a valid one is http://localhost:4317, or over HTTP http://localhost:4318"
    )
  }

  fileprivate static func badExport(_ message: String) -> GRPCStatus {
    GRPCStatus(code: .invalidArgument, message: message)
  }
}

extension OTLPOptions {
  /// Throws if a request could never be sent with the options.
  func makeExporter(
    _ resource: Resource,
    _ clock: TelemetryClock,
    _ group: LoopGroup
  ) throws(GRPCStatus) -> any BatchExporter {
    let endpoint = try OTLPEndpoint(self)
    guard endpoint.isSecure || tls == nil else {
      throw .badExport("OTLPOptions.tls is set, but the collector's URL begins with http, not https")
    }
    guard transport == .grpc || [.none, .gzip].contains(compression) else {
      throw .badExport(
        "OTLPOptions.compression is \(compression.rawValue): over HTTP it must be none or gzip"
      )
    }
    for (name, value) in headers {
      guard let fault = Self.fault(ofHeader: name, value) else { continue }
      throw .badExport("the header \(name.limited(to: 100).debugDescription) for the collector \(fault)")
    }
    switch transport {
    case .grpc: return try OTLPGRPCExporter(self, endpoint, resource, clock, group)
    case .http, .httpJSON: return try OTLPHTTPExporter(self, endpoint, resource, clock, group)
    }
  }

  /// Why a header cannot be added to requests, in words that follow its name.
  static func fault(ofHeader name: String, _ value: String) -> String? {
    if let fault = FieldSyntax.fault(of: name, value) { return fault }
    return FieldSyntax.isReserved(name) || name.lowercased() == "content-encoding"
      ? "is one that the exporter sets itself" : nil
  }
}
