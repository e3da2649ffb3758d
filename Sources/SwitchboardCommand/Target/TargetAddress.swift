/// A target as the user wrote it. It determines the defaults for TLS and the port.
struct TargetAddress: Hashable {
  /// The target without the scheme of a URL.
  private let address: String
  /// Whether the scheme of a URL asks for TLS; nil without a scheme.
  private let scheme: Bool?

  init(_ text: String) {
    for (prefix, usesTLS) in [("http://", false), ("https://", true), ("grpc://", false), ("grpcs://", true)]
    where text.hasPrefix(prefix) {
      let rest = text.dropFirst(prefix.count)
      // A copied URL may end in a slash or have a path, which a gRPC target does not have.
      address = String(rest.prefix { $0 != "/" && $0 != "?" && $0 != "#" })
      scheme = usesTLS
      return
    }
    address = text
    scheme = nil
  }

  /// Whether TLS is used if no flag decides. Connections within the machine need none.
  var usesTLS: Bool { scheme ?? !isLocal }

  /// The target in gRPC's notation. The default port is 443 with TLS, and without TLS 50051, as in gRPC's examples.
  func address(usesTLS: Bool) -> String {
    guard !usesTLS, let host, !hasPort else { return address }
    return host.contains(":") && !host.hasPrefix("[") ? "[\(host)]:50051" : "\(address):50051"
  }

  private var isLocal: Bool {
    if address.hasPrefix("unix:") || address.hasPrefix("unix-abstract:") { return true }
    if let hosts = listedHosts { return hosts.allSatisfy(Self.isLocal) }
    return Self.isLocal(host ?? "")
  }

  private static func isLocal(_ host: String) -> Bool {
    let host = host.lowercased()
    return host == "localhost" || host.hasSuffix(".localhost") || host == "::1" || host == "[::1]"
      || isLoopback(host)
  }

  /// The hosts of a target with several addresses; nil for other targets.
  private var listedHosts: [String]? {
    guard let scheme = ["ipv4:", "ipv6:"].first(where: { address.hasPrefix($0) }), address.contains(",")
    else {
      return nil
    }
    return address.dropFirst(scheme.count).split(separator: ",").map { part in
      if part.hasPrefix("[") { return String(part.prefix { $0 != "]" }) + "]" }
      return part.count { $0 == ":" } > 1 ? String(part) : String(part.prefix { $0 != ":" })
    }
  }

  /// Whether this is an address in 127.0.0.0/8. A name that only starts with `127.` is not.
  private static func isLoopback(_ host: String) -> Bool {
    let parts = host.split(separator: ".", omittingEmptySubsequences: false)
    return parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0) != nil }
  }

  /// The host of `HOST[:PORT]` and of `dns:`, `ipv4:` and `ipv6:` targets; nil for other targets.
  private var host: String? {
    guard let rest else { return nil }
    if rest.hasPrefix("[") { return rest.firstIndex(of: "]").map { String(rest[...$0]) } }
    let colons = rest.count { $0 == ":" }
    return colons == 1 ? String(rest.prefix { $0 != ":" }) : rest
  }

  private var hasPort: Bool {
    guard let rest, let host else { return true }
    return rest.count > host.count
  }

  /// The text after gRPC's scheme. Nil for a target with several addresses, and for other kinds of schemes.
  private var rest: String? {
    guard !address.contains(",") else { return nil }
    for prefix in ["dns:///", "dns:", "ipv4:", "ipv6:"] where address.hasPrefix(prefix) {
      let rest = address.dropFirst(prefix.count)
      return rest.contains("/") ? nil : String(rest)
    }
    return address.contains("/") ? nil : address
  }
}
