/// Where a target is, as the user wrote it: decides between TLS and plaintext, and the port, where nothing else does.
struct TargetPlace: Hashable {
  /// Without the scheme of a URL.
  private let address: String
  /// What the scheme of a URL says.
  private let scheme: Bool?

  init(_ text: String) {
    for (prefix, usesTLS) in [("http://", false), ("https://", true), ("grpc://", false), ("grpcs://", true)]
    where text.hasPrefix(prefix) {
      let rest = text.dropFirst(prefix.count)
      // A URL that was copied from somewhere may end in a slash or have a path, which gRPC does not have.
      address = String(rest.prefix { $0 != "/" && $0 != "?" && $0 != "#" })
      scheme = usesTLS
      return
    }
    address = text
    scheme = nil
  }

  /// Whether TLS is used, if no flag says. What stays in the machine needs none.
  var usesTLS: Bool { scheme ?? !isLocal }

  /// The target in gRPC's notation. One without a port gets 443 for TLS, and 50051, which gRPC's examples use, without.
  func address(usesTLS: Bool) -> String {
    guard !usesTLS, let host, !hasPort else { return address }
    return host.contains(":") && !host.hasPrefix("[") ? "[\(host)]:50051" : "\(address):50051"
  }

  private var isLocal: Bool {
    if address.hasPrefix("unix:") || address.hasPrefix("unix-abstract:") { return true }
    let host = (host ?? "").lowercased()
    return host == "localhost" || host.hasSuffix(".localhost") || host == "::1" || host == "[::1]"
      || Self.isLoopback(host)
  }

  /// 127.0.0.0/8, written in full: a name that only starts like it is elsewhere.
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

  /// What follows the scheme of gRPC. Nil for a target with several addresses, and for schemes of other kinds.
  private var rest: String? {
    guard !address.contains(",") else { return nil }
    for prefix in ["dns:///", "dns:", "ipv4:", "ipv6:"] where address.hasPrefix(prefix) {
      let rest = address.dropFirst(prefix.count)
      return rest.contains("/") ? nil : String(rest)
    }
    return address.contains("/") ? nil : address
  }
}
