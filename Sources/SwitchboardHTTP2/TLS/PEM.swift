import COpenSSL
import SwitchboardCall

/// Reads certificates and keys.
struct PEM: ~Copyable {
  private let bio: OpaquePointer
  private let what: String

  /// Errors name the source by `what`.
  init(_ source: PEMSource, _ what: String) throws(GRPCStatus) {
    self.what = what
    OpenSSL.prepare()
    let opened: OpaquePointer?
    switch source {
    case .file(let path):
      opened = BIO_new_file(path, "r")
    case .bytes(let bytes):
      opened = BIO_new(BIO_s_mem())
      _ = bytes.withUnsafeBytes { BIO_write(opened, $0.baseAddress, Int32(clamping: $0.count)) }
    }
    guard let opened else { throw .tls("cannot read the \(what)") }
    bio = opened
  }

  deinit { BIO_free(bio) }

  /// All certificates there are, at least one. The caller frees them.
  borrowing func certificates() throws(GRPCStatus) -> [OpaquePointer] {
    var certificates: [OpaquePointer] = []
    while let certificate = PEM_read_bio_X509(bio, nil, nil, nil) { certificates.append(certificate) }
    // The end of the file is an error to OpenSSL; it must not be found by whoever looks next.
    ERR_clear_error()
    guard !certificates.isEmpty else { throw .tls("there is no certificate in the \(what)") }
    return certificates
  }

  borrowing func privateKey() throws(GRPCStatus) -> OpaquePointer {
    guard let key = PEM_read_bio_PrivateKey(bio, nil, nil, nil) else {
      throw .tls("there is no key in the \(what)")
    }
    return key
  }
}

extension GRPCStatus {
  /// An error of TLS, with what OpenSSL has to say about it.
  static func tls(_ what: String, code: Code = .unavailable, origin: Origin = .library) -> GRPCStatus {
    var reason = ""
    let error = ERR_peek_last_error()
    if error != 0, let text = ERR_reason_error_string(error) { reason = ": " + String(cString: text) }
    ERR_clear_error()
    return GRPCStatus(code: code, message: "TLS: \(what)\(reason)", origin: origin)
  }
}
