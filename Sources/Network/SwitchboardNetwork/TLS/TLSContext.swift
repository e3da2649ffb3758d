// unsafe: OpenSSL: one owner a pointer, freed in `deinit`

import COpenSSL
import SwitchboardCall

/// The shared configuration of all TLS connections of a server or a channel: certificates, trust roots, and rules.
package final class TLSContext: @unchecked Sendable {
  // Sendable because `init` sets up the context, and OpenSSL then allows creating connections from it on any thread.
  let raw: OpaquePointer
  let isServer: Bool
  /// On a client, the name to send and to verify.
  let serverName: ServerName?
  /// On a client, what decides about the names in a certificate instead.
  let nameCheck: ServerNameCheck?
  /// Whether the peer may use HTTP/1.1.
  let allowsHTTP1: Bool
  /// Why peers will refuse the certificate, if they will.
  package let remarks: [OptionRemark]
  /// When the certificates were read.
  let read = ContinuousClock.now

  package init(server options: ServerTLS, allowsHTTP1: Bool) throws(GRPCStatus) {
    isServer = true
    self.allowsHTTP1 = allowsHTTP1
    serverName = nil
    nameCheck = nil
    let leaf = try LeafCertificate(options.credentials)
    remarks = leaf.remarks(isServer: true)
    OpenSSL.prepare()
    guard let raw = SSL_CTX_new(TLS_server_method()) else { throw .tls("no memory for a context") }
    self.raw = raw
    try configure(options.minimumVersion)
    SSL_CTX_set_alpn_select_cb(raw, allowsHTTP1 ? Self.selectEither : Self.selectHTTP2, nil)
    // HTTP/1.1 clients need not use ALPN.
    if !allowsHTTP1 { SSL_CTX_set_client_hello_cb(raw, Self.requireProtocol, nil) }
    try use(options.credentials)
    try verifyClients(options)
    // Tickets are bound to a context; without an ID, OpenSSL rejects sessions with client certificates.
    let identifier = Array("switchboard".utf8)
    let isSet = SSL_CTX_set_session_id_context(raw, identifier, UInt32(identifier.count))
    guard isSet == 1 else { throw .tls("cannot set the session ID of the context", code: .internalError) }
  }

  /// Neither half of what authenticates clients is of use without the other, and a server must not seem to ask for
  /// certificates, or accept those of every public authority.
  private func verifyClients(_ options: ServerTLS) throws(GRPCStatus) {
    switch (options.clientCertificates, options.trustRoots) {
    case (.none, nil): return
    case (.none, _):
      throw .invalidOption(
        "ServerTLS.trustRoots has no effect, because clients are not asked for certificates: set clientCertificates to "
          + ".required or .optional"
      )
    case (_, nil):
      throw .invalidOption(
        "ServerTLS.clientCertificates needs trustRoots, the authorities that may issue them: every public authority may "
          + "issue one to anybody"
      )
    case (let wanted, let roots):
      let fails = wanted == .required ? SSL_VERIFY_FAIL_IF_NO_PEER_CERT : 0
      SSL_CTX_set_verify(raw, SSL_VERIFY_PEER | fails, nil)
      try trust(roots)
    }
  }

  /// `versions` are those of HTTP that the channel speaks, preferred ones first. Without a name, none is sent, and the options must
  /// have something else that decides about names.
  package init(
    client options: ClientTLS,
    serverName: String?,
    versions: [String] = ["h2"]
  ) throws(GRPCStatus) {
    isServer = false
    allowsHTTP1 = versions.contains("http/1.1")
    nameCheck = options.nameCheck
    let wanted = options.serverNameOverride ?? serverName
    let isNameless = wanted == nil && options.nameCheck != nil
    let name = isNameless ? nil : try ServerName(wanted ?? "")
    self.serverName = name
    remarks =
      try options.credentials.map { credentials throws(GRPCStatus) in
        try LeafCertificate(credentials).remarks(isServer: false)
      } ?? []
    OpenSSL.prepare()
    guard let raw = SSL_CTX_new(TLS_client_method()) else { throw .tls("no memory for a context") }
    self.raw = raw
    try configure(options.minimumVersion)
    let protocols = versions.flatMap { [UInt8($0.utf8.count)] + Array($0.utf8) }
    // Unlike other functions, this one returns zero on success.
    guard SSL_CTX_set_alpn_protos(raw, protocols, UInt32(protocols.count)) == 0 else {
      throw .tls("cannot offer versions of HTTP", code: .internalError)
    }
    if options.skipsVerification {
      SSL_CTX_set_verify(raw, SSL_VERIFY_NONE, nil)
    } else {
      if let name, nameCheck == nil, !Self.require(name, SSL_CTX_get0_param(raw)) {
        throw .tls("cannot verify a certificate for \(name.text)", code: .internalError)
      }
      SSL_CTX_set_verify(raw, SSL_VERIFY_PEER, nil)
      try trust(options.trustRoots)
    }
    if let credentials = options.credentials { try use(credentials) }
  }

  deinit { SSL_CTX_free(raw) }

  private func configure(_ minimum: TLSVersion) throws(GRPCStatus) {
    let version = minimum == .tls12 ? TLS1_2_VERSION : TLS1_3_VERSION
    guard switchboard_ssl_ctx_set_minimum_version(raw, version) == 1 else {
      throw .tls("cannot set the minimum version", code: .internalError)
    }
    switchboard_ssl_ctx_release_idle_buffers(raw)
    switchboard_ssl_ctx_apply_http2_rules(raw)
  }

  /// RFC 9525: only names of servers count, not the subject's common name, and a star stands for a whole label.
  static let hostRules = UInt32(X509_CHECK_FLAG_NEVER_CHECK_SUBJECT | X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS)

  /// Verifies this name in the peer's certificate, and no other. Returns `false` if there is no memory.
  private static func require(_ name: ServerName, _ parameters: OpaquePointer?) -> Bool {
    X509_VERIFY_PARAM_set_hostflags(parameters, hostRules)
    if name.isAddress { return X509_VERIFY_PARAM_set1_ip_asc(parameters, name.text) == 1 }
    return X509_VERIFY_PARAM_set1_ip(parameters, nil, 0) == 1
      && X509_VERIFY_PARAM_set1_host(parameters, name.text, name.text.utf8.count) == 1
  }

  /// Sends the name of the server, unless it is an address, which SNI does not allow. `own` is that of one connection: it is also the
  /// one that is verified. Returns `false` if there is no memory.
  func announce(_ own: ServerName?, on ssl: OpaquePointer) -> Bool {
    if let own, nameCheck == nil, !Self.require(own, SSL_get0_param(ssl)) { return false }
    guard let name = own ?? serverName, !name.isAddress else { return true }
    return switchboard_ssl_set_server_name(ssl, name.text) == 1
  }

  private func use(_ credentials: TLSCredentials) throws(GRPCStatus) {
    let certificates = try credentials.readCertificates()
    defer { for certificate in certificates { X509_free(certificate) } }
    let key = try PEM(credentials.privateKey, "private key").privateKey()
    defer { EVP_PKEY_free(key) }
    guard SSL_CTX_use_certificate(raw, certificates[0]) == 1 else {
      throw .tls("the certificate cannot be used", code: .invalidArgument)
    }
    guard SSL_CTX_use_PrivateKey(raw, key) == 1,
      SSL_CTX_check_private_key(raw) == 1
    else {
      // Only one of them has this key.
      let isLater = certificates.dropFirst().contains { X509_check_private_key($0, key) == 1 }
      let hint = isLater ? ": the certificate of this key is not the first of its chain, as it must be" : ""
      throw .tls("the certificate and the key do not match\(hint)", code: .invalidArgument)
    }
    for certificate in certificates.dropFirst() {
      guard switchboard_ssl_ctx_add_chain_certificate(raw, certificate) == 1 else {
        throw .tls("cannot use the certificate chain", code: .invalidArgument)
      }
    }
  }

  private func trust(_ roots: PEMSource?) throws(GRPCStatus) {
    guard let roots else {
      guard SSL_CTX_set_default_verify_paths(raw) == 1 else {
        throw .tls("cannot read the system's trust roots")
      }
      return
    }
    let certificates = try PEM(roots, "trust roots").certificates()
    defer { for certificate in certificates { X509_free(certificate) } }
    let store = SSL_CTX_get_cert_store(raw)
    for certificate in certificates {
      guard X509_STORE_add_cert(store, certificate) == 1 else {
        throw .tls("cannot use the trust roots", code: .invalidArgument)
      }
    }
  }

  /// A client that offers no protocol gets an alert too.
  private static let requireProtocol: SSL_client_hello_cb_fn = { ssl, alert, _ in
    var bytes: UnsafePointer<UInt8>?
    var count = 0
    let kind = UInt32(TLSEXT_TYPE_application_layer_protocol_negotiation)
    if SSL_client_hello_get0_ext(ssl, kind, &bytes, &count) == 1 { return SSL_CLIENT_HELLO_SUCCESS }
    alert?.pointee = SSL_AD_NO_APPLICATION_PROTOCOL
    return SSL_CLIENT_HELLO_ERROR
  }

  /// Selects HTTP/2 or fails.
  private static let selectHTTP2: SSL_CTX_alpn_select_cb_func = {
    _,
    selected,
    selectedCount,
    offered,
    count,
    _ in
    select("h2", of: offered, count, selected, selectedCount) ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_ALERT_FATAL
  }

  /// Selects HTTP/2 if offered, otherwise HTTP/1.1.
  private static let selectEither: SSL_CTX_alpn_select_cb_func = {
    _,
    selected,
    selectedCount,
    offered,
    count,
    _ in
    select("h2", of: offered, count, selected, selectedCount)
      || select("http/1.1", of: offered, count, selected, selectedCount)
      ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_ALERT_FATAL
  }

  private static func select(
    _ name: String,
    of offered: UnsafePointer<UInt8>?,
    _ count: UInt32,
    _ selected: UnsafeMutablePointer<UnsafePointer<UInt8>?>?,
    _ selectedCount: UnsafeMutablePointer<UInt8>?
  ) -> Bool {
    guard let offered else { return false }
    var index = 0
    while index < Int(count) {
      let length = Int(offered[index])
      guard index + 1 + length <= Int(count) else { break }
      if UnsafeBufferPointer(start: offered + index + 1, count: length).elementsEqual(name.utf8) {
        selected?.pointee = offered + index + 1
        selectedCount?.pointee = UInt8(length)
        return true
      }
      index += 1 + length
    }
    return false
  }
}
