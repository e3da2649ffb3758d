import SwitchboardCall

// What is shown of options with certificates and keys: paths of certificates, and never what is in PEM.

extension PEMSource {
  /// Where certificates are from.
  var shown: String {
    switch self {
    case .file(let path): path
    case .bytes: "given as bytes"
    case .provider: "of a provider"
    }
  }

  /// Where a key is from. Its path is of no use for anybody who may see it.
  fileprivate var shownAsKey: String {
    switch self {
    case .file: "from a file"
    case .bytes: "given as bytes"
    case .provider: "of a provider"
    }
  }
}

extension TLSCredentials {
  var shown: String { "certificate: \(certificateChain.shown), key: \(privateKey.shownAsKey)" }
}

extension ServerTLS: ShownValue {
  var shown: String {
    let clients =
      switch clientCertificates {
      case .none: "clients are not asked for certificates"
      case .optional: "clients may have certificates"
      case .required: "clients need certificates"
      }
    let roots = trustRoots.map { " of \($0.shown)" } ?? ""
    return "\(credentials.shown); \(minimumVersion.shown); \(clients)\(roots)"
  }
}

extension ClientTLS: ShownValue {
  var shown: String {
    var parts = [
      "authorities: \(trustRoots?.shown ?? "the system's")",
      credentials?.shown ?? "no certificate of its own",
      minimumVersion.shown,
    ]
    if let serverNameOverride { parts.append("servers are called \(serverNameOverride)") }
    if skipsVerification { parts.append("certificates of servers are not verified") }
    return parts.joined(separator: "; ")
  }
}

extension ChannelSecurity: ShownValue {
  var shown: String {
    switch self {
    case .automatic: "TLS, except for targets on this machine"
    case .plaintext: "plaintext"
    case .tls(let tls): "TLS; \(tls.shown)"
    }
  }
}

extension ProxyOption: ShownValue {
  var shown: String {
    switch self {
    case .environment: "that of the environment"
    case .none: "none"
    case .http(let host, let port, let credentials): Self.shown("HTTP", host, port, credentials)
    case .socks5(let host, let port, let credentials): Self.shown("SOCKS 5", host, port, credentials)
    }
  }

  private static func shown(_ kind: String, _ host: String, _ port: Int, _ credentials: ProxyCredentials?)
    -> String
  {
    // Whatever is before an @ was meant as a user and a password.
    let name = host.utf8.split(separator: UInt8(ascii: "@")).last.map { String(decoding: $0, as: UTF8.self) }
    return "\(kind), \(name ?? ""):\(port)" + (credentials == nil ? "" : ", with credentials")
  }
}
