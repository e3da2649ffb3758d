import COpenSSL
import CertificateSupport
import SwitchboardCall
import SwitchboardNetwork
import SwitchboardTransport

/// The TLS context of a peer, created once for each kind because that takes longer than a handshake.
enum PeerContext {
  private struct Key: Hashable {
    let role: TLSPeer.Role
    let version: TLSVersion
    let protocols: [String]
    let showsCertificate: Bool
  }

  private struct Kept: @unchecked Sendable {
    // Sendable because OpenSSL allows creating connections from a context on any thread.
    let raw: OpaquePointer
  }

  private static let kept = Locked<[Key: Kept]>([:])

  static func of(
    _ role: TLSPeer.Role,
    _ version: TLSVersion,
    _ protocols: [String],
    _ showsCertificate: Bool
  ) throws -> OpaquePointer {
    let key = Key(role: role, version: version, protocols: protocols, showsCertificate: showsCertificate)
    return try kept.withLock { kept in
      if let context = kept[key] { return context }
      let context = Kept(raw: try make(role, version, protocols, showsCertificate))
      kept[key] = context
      return context
    }
    .raw
  }

  private static func make(
    _ role: TLSPeer.Role,
    _ version: TLSVersion,
    _ protocols: [String],
    _ showsCertificate: Bool
  ) throws -> OpaquePointer {
    OpenSSL.prepare()
    guard let context = SSL_CTX_new(role == .server ? TLS_server_method() : TLS_client_method()) else {
      throw TLSPeerError("no memory for a context")
    }
    let number = Int(version == .tls12 ? TLS1_2_VERSION : TLS1_3_VERSION)
    SSL_CTX_ctrl(context, SSL_CTRL_SET_MIN_PROTO_VERSION, number, nil)
    SSL_CTX_ctrl(context, SSL_CTRL_SET_MAX_PROTO_VERSION, number, nil)
    SSL_CTX_ctrl(context, SSL_CTRL_SET_SESS_CACHE_MODE, 0, nil)
    let offer = protocols.flatMap { [UInt8($0.utf8.count)] + Array($0.utf8) }
    if role == .client {
      if !offer.isEmpty { SSL_CTX_set_alpn_protos(context, offer, UInt32(offer.count)) }
      if showsCertificate { try use(TestCertificates.client, context) }
    } else {
      if protocols == ["h2"] { SSL_CTX_set_alpn_select_cb(context, agree, nil) }
      SSL_CTX_set_keylog_callback(context, LoggedSecrets.log)
      try use(TestCertificates.server, context)
    }
    return context
  }

  private static func use(_ credentials: TLSCredentials, _ context: OpaquePointer) throws {
    guard case .bytes(let chain) = credentials.certificateChain, case .bytes(let key) = credentials.privateKey
    else { throw TLSPeerError("no bytes of a certificate") }
    let (chainText, keyText) = (
      BIO_new_mem_buf(chain, Int32(chain.count)), BIO_new_mem_buf(key, Int32(key.count))
    )
    defer {
      BIO_free(chainText)
      BIO_free(keyText)
    }
    let certificate = PEM_read_bio_X509(chainText, nil, nil, nil)
    let privateKey = PEM_read_bio_PrivateKey(keyText, nil, nil, nil)
    defer {
      X509_free(certificate)
      EVP_PKEY_free(privateKey)
    }
    guard SSL_CTX_use_certificate(context, certificate) == 1, SSL_CTX_use_PrivateKey(context, privateKey) == 1
    else { throw TLSPeerError("a certificate cannot be used") }
  }

  private static let agree: SSL_CTX_alpn_select_cb_func = { _, selected, count, offered, length, _ in
    guard let offered, length > 0 else { return SSL_TLSEXT_ERR_NOACK }
    // The first protocol that is offered.
    selected?.pointee = offered + 1
    count?.pointee = offered.pointee
    return SSL_TLSEXT_ERR_OK
  }
}
