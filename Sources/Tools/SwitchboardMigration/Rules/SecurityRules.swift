/// TLS.
enum SecurityRules {
  static let all: [Rule] = [
    .advise(
      "makeClientConfigurationBackedByNIOSSL",
      "Use options.security = .tls(ClientTLS(trustRoots:credentials:serverNameOverride:))."
    ),
    .advise("makeServerConfigurationBackedByNIOSSL", server),
    .advise(
      "GRPCTLSConfiguration",
      "Use ClientTLS for ChannelOptions.security, ServerTLS for ServerOptions.tls."
    ),
    .advise("makeClientDefault", "Use .tls(), which trusts the system's authorities."),
    .advise(
      "NIOSSLCertificate",
      "Use .file(path) or .bytes(_), in PEM, as a certificateChain or trustRoots."
    ),
    .advise("NIOSSLPrivateKey", "Use .file(path) or .bytes(_), in PEM, as a privateKey."),
    .advise("NIOSSLTrustRoots", "Use trustRoots: .file(path) or .bytes(_)."),
    .advise("NIOSSLContext", "Use ClientTLS, or ServerTLS."),
    .advise(
      ".tlsConfiguration",
      "Use ServerTLS for ServerOptions.tls, .tls(ClientTLS(…)) for ChannelOptions.security."
    ),
    .advise("TLSConfiguration", "Use ClientTLS, or ServerTLS."),
    .advise(
      ".withTLS",
      "Use ClientTLS(trustRoots:credentials:serverNameOverride:), or ServerTLS(credentials:clientCertificates:trustRoots:)."
    ),
    .advise(
      "certificateVerification",
      "A server: clientCertificates: .required. A client always verifies: name the authority in trustRoots."
    ),
    .advise(".withTLSCustomVerificationCallback", "Has no counterpart: name the authority in trustRoots."),
  ]

  private static let server =
    "Use options.tls = ServerTLS(credentials: TLSCredentials(certificateChain: .file(_), privateKey: .file(_)))."
}
