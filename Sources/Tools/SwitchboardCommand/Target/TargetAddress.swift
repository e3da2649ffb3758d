import SwitchboardBalancing

/// A target as the user wrote it. It determines the defaults for TLS and the port.
struct TargetAddress: Hashable {
  /// The target without the scheme of a URL.
  private let address: String
  /// The scheme of a URL, in lower case; nil without one.
  let scheme: String?

  init(_ text: String) throws(Failure) {
    if let mistake = TargetMistake(in: text) { throw mistake.failure(text) }
    guard let (name, rest) = text.schemeAndRest,
      let url = TargetMistake.urls.first(where: { $0.scheme == name.lowercased() })
    else {
      (address, scheme) = (text, nil)
      return
    }
    // A copied URL may end in a slash.
    (address, scheme) = (String(rest.prefix { $0 != "/" }), url.scheme)
  }

  /// Whether the scheme of a URL asks for TLS; nil without one.
  var schemeUsesTLS: Bool? { TargetMistake.urls.first { $0.scheme == scheme }?.usesTLS }

  /// Whether TLS is used if no flag decides: as a channel does by default.
  var usesTLS: Bool { schemeUsesTLS ?? !isOnThisMachine }

  private var isOnThisMachine: Bool {
    let schemes: Set = ["dns", "ipv4", "ipv6", "unix", "unix-abstract"]
    let target = try? SwitchboardBalancing.Target(address, schemes: schemes, fallback: "dns")
    return target?.isOnThisMachine ?? false
  }

  /// The target in gRPC's notation. The default port is 443 with TLS, and without TLS 50051, as in gRPC's examples.
  func address(usesTLS: Bool) -> String {
    guard !usesTLS, let host, !hasPort else { return address }
    return host.contains(":") && !host.hasPrefix("[") ? "[\(host)]:50051" : "\(address):50051"
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
