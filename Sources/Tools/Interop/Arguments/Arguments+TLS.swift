import Switchboard

extension Arguments {
  /// The server's TLS configuration, with the test certificate unless another is given.
  var serverTLS: ServerTLS? {
    get throws(UsageError) {
      guard isSet("use_tls") else { return nil }
      return ServerTLS(credentials: try credentials ?? TestAuthority.server)
    }
  }

  /// The client's TLS configuration.
  var clientTLS: ClientTLS? {
    get throws(UsageError) {
      guard isSet("use_tls") else { return nil }
      let isTest = isSet("use_test_ca")
      var roots: PEMSource? = isTest ? TestAuthority.certificate : nil
      if let file = string("ca_file") { roots = .file(file) }
      return ClientTLS(
        trustRoots: roots,
        credentials: try credentials,
        serverNameOverride: string("server_host_override") ?? (isTest ? TestAuthority.serverName : nil)
      )
    }
  }

  private var credentials: TLSCredentials? {
    get throws(UsageError) {
      switch (string("tls_cert_file"), string("tls_key_file")) {
      case (nil, nil): return nil
      case (let certificate?, let key?):
        return TLSCredentials(certificateChain: .file(certificate), privateKey: .file(key))
      default: throw UsageError(description: "--tls_cert_file and --tls_key_file must be used together")
      }
    }
  }
}
