// unsafe: OpenSSL: one owner a pointer, freed in `deinit`

import COpenSSL
import SwitchboardCall

/// The TLS state of one connection: decrypts and encrypts, without I/O.
package final class TLSFilter: Packable {
  // Unchecked exclusivity: confined to the connection's loop.
  private let connection: OpaquePointer
  /// The memory of `connection`, if the application lets OpenSSL use our allocator.
  @exclusivity(unchecked) package var memory: PackableMemory
  /// There is nothing else that it could do without.
  package func memoryWasPacked() {}
  /// The bytes that OpenSSL reads, and the function that it writes to.
  private let wire: UnsafeMutablePointer<switchboard_wire>
  let context: TLSContext
  @exclusivity(unchecked) private var state = State.handshaking
  /// What OpenSSL writes outside of `send`: the handshake, and responses to received records.
  @exclusivity(unchecked) private var pending: [UInt8] = []
  /// The destination during `send`.
  @exclusivity(unchecked) private var output: OutputBuffer?
  /// Starts below zero by the number of records that a handshake may take.
  @exclusivity(unchecked) private var idleRecords = -TLSFilter.recordsOfHandshake

  /// Enough for a certificate chain in small records.
  static let recordsOfHandshake = 64

  /// ```
  ///   handshaking ──> secure ──close_notify──> ended
  ///        └────────────┴──any error──> failed
  /// ```
  /// Only `secure` delivers and encrypts data. After `failed`, the pending output, which is an alert, can still be
  /// taken.
  private enum State {
    case handshaking, secure, ended, failed
  }

  package enum Received {
    case open
    /// The peer sent close_notify. Reported once.
    case ended
    /// Reported once.
    case failed(GRPCStatus)
  }

  /// The events of `receive`.
  package enum Event {
    case becameSecure
    case plaintext(UnsafeRawBufferPointer)
  }

  private static let wireMethod = BIOMethod()

  private struct BIOMethod: @unchecked Sendable {
    // Sendable because it is created once and OpenSSL only reads it.
    let raw = switchboard_wire_method()
  }

  /// `name` is what a client asks the server for instead of the context's name. Without arenas, or without `TLSMemory`, it is never
  /// packed. `nil` if there is no memory.
  package init?(_ context: TLSContext, name: ServerName? = nil, arenas: ArenaSlabs? = nil) {
    memory = PackableMemory(in: OpenSSL.borrowsMemory ? arenas : nil)
    guard let ssl = memory.arena.makeConnection(context.raw) else {
      memory.end()
      return nil
    }
    self.context = context
    connection = ssl
    wire = .allocate(capacity: 1)
    wire.initialize(to: switchboard_wire())
    // From here on, `deinit` frees both.
    guard switchboard_ssl_use_wire(ssl, Self.wireMethod.raw, wire) == 1 else { return nil }
    wire.pointee.owner = Unmanaged.passUnretained(self).toOpaque()
    wire.pointee.write = { owner, bytes, count in
      guard let owner else { return }
      Unmanaged<TLSFilter>.fromOpaque(owner)._withUnsafeGuaranteedRef {
        $0.didEncrypt(UnsafeRawBufferPointer(start: bytes, count: count))
      }
    }
    if context.isServer { SSL_set_accept_state(ssl) } else { SSL_set_connect_state(ssl) }
    guard context.announce(name, on: ssl) else { return nil }
  }

  deinit {
    memory.wake()
    memory.arena.endConnection(connection)
    memory.end()
    wire.deallocate()
  }

  /// OpenSSL's object, for calls into it. This is the only way to it, because it may have to be unpacked.
  var ssl: OpaquePointer {
    @inline(__always) get {
      if !memory.isAwake { wake() }
      return connection
    }
  }

  /// Whether the handshake is complete and nothing has failed since.
  package var isSecure: Bool { state == .secure }
  /// Whether the peer has said that it sends no more. Anyone between the two can end the connection without that.
  package var peerHasEnded: Bool { state == .ended }

  /// The number of bytes that TLS itself wants to send, as in a handshake, and that have not been taken.
  package var pendingByteCount: Int { pending.count }

  private func didEncrypt(_ bytes: UnsafeRawBufferPointer) {
    if let output { output.append(bytes) } else { pending += bytes }
  }

  /// Decrypts bytes and calls `report` with the events. It puts plaintext into `buffer`, in pieces as large as possible.
  /// Stops and drops the rest when `report` returns `false`.
  ///
  /// Data that arrives together with an error is not delivered: a response could not be sent.
  package func receive(
    _ bytes: UnsafeRawBufferPointer,
    buffer: UnsafeMutableRawBufferPointer,
    _ report: (Event) -> Bool
  ) -> Received {
    guard state == .handshaking || state == .secure else { return .open }
    wire.pointee.bytes = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
    wire.pointee.count = bytes.count
    // `report` may release the connection, and thereby this object.
    return withExtendedLifetime(self) {
      defer { wire.pointee.count = 0 }
      if state == .handshaking {
        let received = handshake()
        guard state == .secure, report(.becameSecure) else { return received }
      }
      return readAll(buffer, report)
    }
  }

  /// Continues the handshake as far as possible. A client calls this to start it.
  @discardableResult
  package func handshake() -> Received {
    ERR_clear_error()
    let result = SSL_do_handshake(ssl)
    if result == 1 {
      guard version == .http2 || context.allowsHTTP1 else { return fail(.noHTTP2) }
      if let check = context.nameCheck, !check.accepts(peerNames, sentName) { return fail(.wrongNames) }
      countRecords(hadData: true)
      state = .secure
      return .open
    }
    let error = SSL_get_error(ssl, result)
    countRecords(hadData: false)
    return error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE ? .open : fail(handshakeFailure)
  }

  private func fail(_ status: GRPCStatus) -> Received {
    state = .failed
    return .failed(status)
  }

  /// The last record whose header was read may still be incomplete.
  private func countRecords(hadData: Bool) {
    guard wire.pointee.records > 0 else { return }
    idleRecords &+= Int(wire.pointee.records) - 1
    wire.pointee.records = hadData ? 0 : 1
  }

  /// The number of records without data since the last call: parts of a handshake, key updates, alerts, tickets, and
  /// empty records. Of several handshake messages in one record, each counts.
  package func takeIdleRecords() -> Int {
    guard idleRecords > 0 else { return 0 }
    defer { idleRecords = 0 }
    return idleRecords
  }

  /// The name that a client has asked the server for.
  private var sentName: String? {
    SSL_get_servername(ssl, TLSEXT_NAMETYPE_host_name).map { String(cString: $0) }
  }

  /// On a client, the name that the server must have.
  private var expectedName: String? { context.isServer ? nil : sentName ?? context.serverName?.text }

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
    let owner =
      expectedName.map { "of \($0) " } ?? (context.isServer ? "of the client " : "of the server ")
    return GRPCStatus(
      code: .unavailable,
      message: "TLS: the certificate \(owner)was rejected: \(String(cString: text))\(hint(verification))",
      origin: .library
    )
  }

  /// What to do about a certificate that is good, but of another name.
  private func hint(_ verification: Int) -> String {
    guard [X509_V_ERR_HOSTNAME_MISMATCH, X509_V_ERR_IP_ADDRESS_MISMATCH].contains(Int32(verification)),
      let name = expectedName
    else { return "" }
    return
      " (it does not name \(name) as a subjectAltName: connect to a name that it has, "
      + "or set ClientTLS.serverNameOverride to one)"
  }

  /// Our own callbacks found no common protocol; they fail for no other reason.
  private var isWithoutHTTP2: Bool {
    let reason = switchboard_error_reason(ERR_peek_last_error())
    return context.isServer && (reason == SSL_R_CALLBACK_FAILED || reason == SSL_R_NO_APPLICATION_PROTOCOL)
  }

  /// The peer's alert says why it failed.
  private func alertOr(_ what: String) -> GRPCStatus {
    let isAlert = switchboard_error_is_alert(ERR_peek_last_error()) != 0
    return .tls(
      isAlert ? "the \(context.isServer ? "client" : "server") refused the connection" : what,
      origin: .peer
    )
  }

  /// What ALPN has decided; `nil` if the client does not use it.
  package var version: SpokenVersion? {
    var name: UnsafePointer<UInt8>?
    var count: UInt32 = 0
    SSL_get0_alpn_selected(ssl, &name, &count)
    let chosen = UnsafeBufferPointer(start: name, count: Int(count))
    return chosen.isEmpty ? nil : chosen.elementsEqual("h2".utf8) ? .http2 : .http1
  }

  private var hasUnread: Bool { wire.pointee.count > 0 || SSL_has_pending(ssl) == 1 }

  private func readAll(_ buffer: UnsafeMutableRawBufferPointer, _ report: (Event) -> Bool) -> Received {
    while hasUnread {
      var filled = 0
      var result: Int32 = 1
      ERR_clear_error()
      // One more read than there are records would cost as much as reading a record.
      while result > 0, filled < buffer.count, hasUnread {
        result = SSL_read(ssl, buffer.baseAddress.map { $0 + filled }, Int32(clamping: buffer.count - filled))
        countRecords(hadData: result > 0)
        if result > 0 { filled += Int(result) }
      }
      let error = result > 0 ? SSL_ERROR_NONE : SSL_get_error(ssl, result)
      let isOpen = error == SSL_ERROR_NONE || error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE
      guard isOpen || error == SSL_ERROR_ZERO_RETURN else { return fail(alertOr("the connection broke")) }
      let isOver = filled > 0 && !report(.plaintext(UnsafeRawBufferPointer(rebasing: buffer[..<filled])))
      // `report` may have sent data, and that may have failed.
      guard state == .secure else { return .open }
      guard isOpen else {
        state = .ended
        return .ended
      }
      if isOver || error != SSL_ERROR_NONE { return .open }
    }
    return .open
  }

  /// Encrypts `plain`. Returns the error, once, if that is not possible.
  package func send(_ plain: OutputBuffer, into encrypted: OutputBuffer) -> GRPCStatus? {
    guard state == .secure else { return nil }
    takePending(into: encrypted)
    output = encrypted
    defer { output = nil }
    ERR_clear_error()
    var isWhole = true
    plain.forEachPiece { piece in
      var rest = piece
      while isWhole, !rest.isEmpty {
        // The wire accepts everything at once, so there are no partial writes.
        let written = SSL_write(ssl, rest.baseAddress, Int32(clamping: rest.count))
        isWhole = written > 0
        if isWhole { rest = UnsafeRawBufferPointer(rebasing: rest[Int(written)...]) }
      }
    }
    guard !isWhole else { return nil }
    state = .failed
    return .tls("cannot encrypt", code: .internalError)
  }

  /// Takes the bytes that TLS itself wants to send, as in a handshake.
  package func takePending(into output: OutputBuffer) {
    guard !pending.isEmpty else { return }
    pending.withUnsafeBytes { output.append($0) }
    pending = []
  }
}

extension GRPCStatus {
  package static let noHTTP2 = GRPCStatus(
    code: .unavailable,
    message: "TLS: the peer does not offer HTTP/2 (ALPN h2)",
    origin: .peer
  )

  fileprivate static let wrongNames = GRPCStatus(
    code: .unavailable,
    message: "TLS: the certificate of the server was rejected: it has none of the names that are expected",
    origin: .library
  )

  package static let handshakeCut = GRPCStatus(
    code: .unavailable,
    message: "TLS: the peer closed the connection during the handshake",
    origin: .peer
  )
}
