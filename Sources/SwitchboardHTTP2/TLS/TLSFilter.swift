import COpenSSL
import SwitchboardCall

/// The TLS state of one connection: ciphertext in, plaintext out, and the other way. No I/O.
final class TLSFilter {
  // Unchecked exclusivity: confined to the connection's loop.
  let ssl: OpaquePointer
  /// What came from the network, and what is to go there; the connection's state owns both.
  private let incoming: OpaquePointer
  private let outgoing: OpaquePointer
  private let context: TLSContext
  @exclusivity(unchecked) private(set) var isSecure = false

  enum Received {
    case open
    case becameSecure
    /// The peer said that it sends no more.
    case ended
    case failed(GRPCStatus)
  }

  /// `nil` when there is no memory for it.
  init?(_ context: TLSContext) {
    guard let ssl = SSL_new(context.raw), let incoming = BIO_new(BIO_s_mem()),
      let outgoing = BIO_new(BIO_s_mem())
    else { return nil }
    self.context = context
    self.ssl = ssl
    self.incoming = incoming
    self.outgoing = outgoing
    switchboard_bio_empty_is_not_eof(incoming)
    SSL_set_bio(ssl, incoming, outgoing)
    if context.isServer { SSL_set_accept_state(ssl) } else { prepareClient() }
  }

  deinit { SSL_free(ssl) }

  private func prepareClient() {
    SSL_set_connect_state(ssl)
    guard let name = context.serverName else { return }
    // An address is checked as such, and never sent as a name.
    if X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), name) != 1 {
      ERR_clear_error()
      _ = switchboard_ssl_set_server_name(ssl, name)
      SSL_set1_host(ssl, name)
    }
  }

  /// Takes ciphertext and gives the plaintext in it, in `buffer`, in as large pieces as there are.
  func receive(
    _ bytes: UnsafeRawBufferPointer,
    buffer: UnsafeMutableRawBufferPointer,
    _ deliver: (UnsafeRawBufferPointer) -> Void
  ) -> Received {
    // Copied first: `bytes` may lie in `buffer`.
    BIO_write(incoming, bytes.baseAddress, Int32(bytes.count))
    var received = Received.open
    if !isSecure {
      received = handshake()
      guard isSecure else { return received }
    }
    return readAll(buffer, deliver) ?? received
  }

  /// Takes the handshake as far as it goes. A client calls this to begin it.
  @discardableResult
  func handshake() -> Received {
    ERR_clear_error()
    let result = SSL_do_handshake(ssl)
    if result == 1 {
      isSecure = true
      return speaksHTTP2 || context.allowsHTTP1 ? .becameSecure : .failed(.noHTTP2)
    }
    let error = SSL_get_error(ssl, result)
    return error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE ? .open : .failed(handshakeFailure)
  }

  private var handshakeFailure: GRPCStatus {
    let verification = SSL_get_verify_result(ssl)
    guard !isWithoutHTTP2 else {
      ERR_clear_error()
      return .noHTTP2
    }
    guard verification != X509_V_OK, let text = X509_verify_cert_error_string(verification) else {
      return alertOr("the handshake failed")
    }
    ERR_clear_error()
    let owner = context.serverName.map { "of \($0) " } ?? "of the client "
    return GRPCStatus(
      code: .unavailable,
      message: "TLS: the certificate \(owner)is not accepted: \(String(cString: text))",
      origin: .library
    )
  }

  /// Our own callbacks, which look for the protocol and for nothing else, found none.
  private var isWithoutHTTP2: Bool {
    let reason = switchboard_error_reason(ERR_peek_last_error())
    return context.isServer && (reason == SSL_R_CALLBACK_FAILED || reason == SSL_R_NO_APPLICATION_PROTOCOL)
  }

  /// The peer says what it did not like in an alert.
  private func alertOr(_ what: String) -> GRPCStatus {
    let isAlert = switchboard_error_is_alert(ERR_peek_last_error()) != 0
    return .tls(
      isAlert ? "the \(context.isServer ? "client" : "server") refused the connection" : what,
      origin: .peer
    )
  }

  private var speaksHTTP2: Bool {
    var name: UnsafePointer<UInt8>?
    var count: UInt32 = 0
    SSL_get0_alpn_selected(ssl, &name, &count)
    return UnsafeBufferPointer(start: name, count: Int(count)).elementsEqual("h2".utf8)
  }

  private var hasUnread: Bool { BIO_ctrl_pending(incoming) > 0 || SSL_has_pending(ssl) == 1 }

  /// How it ended, when it did.
  private func readAll(
    _ buffer: UnsafeMutableRawBufferPointer,
    _ deliver: (UnsafeRawBufferPointer) -> Void
  ) -> Received? {
    while true {
      var filled = 0
      var result: Int32 = 1
      ERR_clear_error()
      // Asking once more than there are records would cost as much as reading one.
      while result > 0, filled < buffer.count, hasUnread {
        result = SSL_read(ssl, buffer.baseAddress.map { $0 + filled }, Int32(buffer.count - filled))
        if result > 0 { filled += Int(result) }
      }
      let error = result > 0 ? SSL_ERROR_NONE : SSL_get_error(ssl, result)
      if filled > 0 { deliver(UnsafeRawBufferPointer(rebasing: buffer[..<filled])) }
      switch error {
      case SSL_ERROR_NONE: guard hasUnread else { return nil }
      case SSL_ERROR_WANT_READ, SSL_ERROR_WANT_WRITE: return nil
      case SSL_ERROR_ZERO_RETURN: return .ended
      default: return .failed(alertOr("the connection broke"))
      }
    }
  }

  /// Encrypts what is in `plain`.
  func send(_ plain: OutputBuffer, into encrypted: OutputBuffer) {
    ERR_clear_error()
    plain.forEachPiece { piece in
      var rest = piece
      while !rest.isEmpty {
        // Memory has no end, so a write never takes less than it can; an error ends the connection when
        // it next reads.
        let written = SSL_write(ssl, rest.baseAddress, Int32(clamping: rest.count))
        guard written > 0 else { return }
        rest = UnsafeRawBufferPointer(rebasing: rest[Int(written)...])
      }
    }
    takePending(into: encrypted)
  }

  /// What TLS itself has to say, as in a handshake.
  func takePending(into output: OutputBuffer) {
    var bytes: UnsafeMutablePointer<CChar>?
    let count = switchboard_bio_contents(outgoing, &bytes)
    guard count > 0 else { return }
    output.append(UnsafeRawBufferPointer(start: bytes, count: count))
    switchboard_bio_reset(outgoing)
  }
}

extension GRPCStatus {
  static let noHTTP2 = GRPCStatus(
    code: .unavailable,
    message: "TLS: the peer does not offer HTTP/2 (ALPN h2)",
    origin: .peer
  )

  static let handshakeCut = GRPCStatus(
    code: .unavailable,
    message: "TLS: the peer closed the connection during the handshake",
    origin: .peer
  )
}
