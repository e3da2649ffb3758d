import COpenSSL
import CertificateSupport
import SwitchboardCall
import SwitchboardNetwork
import SwitchboardTransport

/// The other end of a TLS connection, played by OpenSSL: it verifies nothing, and does what well-behaved peers do not.
/// No I/O.
package final class TLSPeer {
  package enum Role: Sendable { case client, server }

  private let ssl: OpaquePointer
  private let incoming: OpaquePointer
  private let outgoing: OpaquePointer
  private var isBroken = false

  /// A client offers `protocols`; a server selects the first of them without negotiation. A client sends a certificate
  /// if told to.
  package init(
    _ role: Role,
    version: TLSVersion = .tls13,
    protocols: [String] = ["h2"],
    showsCertificate: Bool = false,
    resuming session: Session? = nil
  ) throws {
    let context = try PeerContext.of(role, version, protocols, showsCertificate)
    guard let ssl = SSL_new(context), let incoming = BIO_new(BIO_s_mem()), let outgoing = BIO_new(BIO_s_mem())
    else { throw TLSPeerError("no memory for a peer") }
    BIO_ctrl(incoming, BIO_C_SET_BUF_MEM_EOF_RETURN, -1, nil)
    SSL_set_bio(ssl, incoming, outgoing)
    (self.ssl, self.incoming, self.outgoing) = (ssl, incoming, outgoing)
    if let session { SSL_set_session(ssl, session.raw) }
    if role == .server { SSL_set_accept_state(ssl) } else { SSL_set_connect_state(ssl) }
  }

  deinit {
    _ = LoggedSecrets.take(ssl)
    SSL_free(ssl)
  }

  package var isSecure: Bool { SSL_is_init_finished(ssl) == 1 }

  /// Continues the handshake as far as possible.
  package func shakeHands() { note(SSL_do_handshake(ssl)) }

  private func note(_ result: Int32) {
    let error = SSL_get_error(ssl, result)
    if result <= 0, error == SSL_ERROR_SSL { isBroken = true }
    ERR_clear_error()
  }

  /// The output for the other end.
  package func takeOutput() -> [UInt8] {
    let count = BIO_ctrl_pending(outgoing)
    guard count > 0 else { return [] }
    var bytes = [UInt8](repeating: 0, count: count)
    BIO_read(outgoing, &bytes, Int32(clamping: count))
    return bytes
  }

  /// Passes in the other end's output; `read` returns the data.
  package func take(_ bytes: [UInt8]) {
    BIO_write(incoming, bytes, Int32(clamping: bytes.count))
    if !isSecure { shakeHands() }
  }

  /// The data from the other end. Also empty if nothing can be decrypted.
  package func read() -> [UInt8] {
    var said: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 16384)
    while !isBroken {
      ERR_clear_error()
      let count = SSL_read(ssl, &piece, Int32(piece.count))
      guard count > 0 else {
        note(count)
        break
      }
      said += piece.prefix(Int(count))
    }
    return said
  }

  // MARK: Output

  package func write(_ bytes: [UInt8]) {
    guard !bytes.isEmpty, !isBroken else { return }
    ERR_clear_error()
    note(SSL_write(ssl, bytes, Int32(clamping: bytes.count)))
  }

  /// Updates its key, and requests the same of the other end. Only in TLS 1.3.
  package func updateKey(asking: Bool = true) {
    guard SSL_key_update(ssl, asking ? SSL_KEY_UPDATE_REQUESTED : SSL_KEY_UPDATE_NOT_REQUESTED) == 1 else {
      return ERR_clear_error()
    }
    shakeHands()
  }

  /// Updates a server's key, after which only what this returns can write. Only in TLS 1.3.
  package func takeOver() throws -> RecordWriter {
    guard let secret = LoggedSecrets.take(ssl), secret.count == 48 else {
      throw TLSPeerError("no secret of 48 bytes")
    }
    updateKey(asking: false)
    return RecordWriter(updating: secret)
  }

  /// Starts a renegotiation. Only in TLS 1.2.
  package func renegotiate() {
    guard SSL_renegotiate(ssl) == 1 else { return ERR_clear_error() }
    shakeHands()
  }

  /// Sends a client another ticket. Only in TLS 1.3.
  package func sendTicket() {
    guard SSL_new_session_ticket(ssl) == 1 else { return ERR_clear_error() }
    shakeHands()
  }

  /// Sends close_notify.
  package func end() {
    SSL_shutdown(ssl)
    ERR_clear_error()
  }

  // MARK: Early data

  /// The session of a client's connection.
  package final class Session {
    fileprivate let raw: OpaquePointer

    fileprivate init(_ raw: OpaquePointer) { self.raw = raw }

    deinit { SSL_SESSION_free(raw) }
  }

  /// Claims that the server allows this much early data, whatever it announced.
  package func session(earlyData: UInt32) -> Session? {
    guard let current = SSL_get_session(ssl), SSL_SESSION_is_resumable(current) == 1,
      let copy = SSL_SESSION_dup(current)
    else { return nil }
    SSL_SESSION_set_max_early_data(copy, earlyData)
    return Session(copy)
  }

  /// Sends data before the handshake. Returns `false` if that is not possible.
  package func writeEarly(_ bytes: [UInt8]) -> Bool {
    var written = 0
    defer { ERR_clear_error() }
    return SSL_write_early_data(ssl, bytes, bytes.count, &written) == 1 && written == bytes.count
  }

  /// Whether the other end accepted the early data.
  package var earlyDataWasTaken: Bool { SSL_get_early_data_status(ssl) == SSL_EARLY_DATA_ACCEPTED }
}

package struct TLSPeerError: Error {
  package let description: String

  package init(_ description: String) { self.description = description }
}
