// unsafe: OpenSSL: one owner a pointer, freed in `deinit`

import COpenSSL
import SwitchboardCall

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// Reads certificates and keys.
struct PEM: ~Copyable {
  private let bio: OpaquePointer
  private let what: String
  private let source: PEMSource
  /// The source of the other part of the credentials, if there is one.
  private let other: PEMSource?

  /// `what` names the source in errors, together with the path of a file. They say if `other` has what was expected here.
  init(_ source: PEMSource, _ what: String, beside other: PEMSource? = nil) throws(GRPCStatus) {
    var what = what
    if case .file(let path) = source { what += " (\(path))" }
    self.what = what
    self.source = source
    self.other = other
    OpenSSL.prepare()
    let opened: OpaquePointer?
    switch source {
    case .provider: throw .tls("the \(what) cannot come from a provider", code: .invalidArgument)
    case .file(let path):
      // OpenSSL opens a directory, and finds nothing in it. Containers have one where a file that was to be mounted is not.
      guard !Self.isDirectory(path) else {
        throw .tls("cannot read the \(what): is a directory", code: .invalidArgument)
      }
      opened = BIO_new_file(path, "r")
      if opened == nil, errno != ENOENT {
        // OpenSSL's own text is "system lib", for whatever the system says.
        let reason = SocketError(errno: errno)
        ERR_clear_error()
        throw .tls("cannot read the \(what): \(reason)", code: .invalidArgument)
      }
    case .bytes(let bytes):
      opened = BIO_new(BIO_s_mem())
      let count = bytes.withUnsafeBytes { BIO_write(opened, $0.baseAddress, Int32(clamping: $0.count)) }
      guard bytes.isEmpty || Int(count) == bytes.count else {
        BIO_free(opened)
        throw .tls("cannot read the \(what)")
      }
    }
    guard let opened else { throw .tls("cannot read the \(what)", code: .invalidArgument) }
    bio = opened
  }

  deinit { BIO_free(bio) }

  private static func isDirectory(_ path: String) -> Bool {
    var status = stat()
    return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
  }

  /// All certificates, at least one. The caller frees them.
  borrowing func certificates() throws(GRPCStatus) -> [OpaquePointer] {
    var certificates: [OpaquePointer] = []
    while let certificate = PEM_read_bio_X509(bio, nil, nil, nil) { certificates.append(certificate) }
    // The end of the file is an error in OpenSSL's queue; later checks must not find it there.
    let isAtEnd = switchboard_error_reason(ERR_peek_last_error()) == PEM_R_NO_START_LINE
    guard isAtEnd, !certificates.isEmpty else {
      for certificate in certificates { X509_free(certificate) }
      guard isAtEnd else { throw .tls("a certificate in the \(what) is malformed", code: .invalidArgument) }
      ERR_clear_error()
      let hint = PEMPart.certificate.hint(about: source, beside: other)
      throw .tls("no certificate in the \(what)\(hint)", code: .invalidArgument)
    }
    ERR_clear_error()
    return certificates
  }

  borrowing func privateKey() throws(GRPCStatus) -> OpaquePointer {
    guard let key = switchboard_read_private_key(bio) else {
      let hint = PEMPart.privateKey.hint(about: source, beside: other)
      // OpenSSL's reason says less.
      if !hint.isEmpty { ERR_clear_error() }
      throw .tls("the \(what) is not a key in PEM without a password\(hint)", code: .invalidArgument)
    }
    return key
  }
}

extension GRPCStatus {
  /// A TLS error, with OpenSSL's reason.
  static func tls(_ what: String, code: Code = .unavailable, origin: Origin = .library) -> GRPCStatus {
    var reason = ""
    let error = ERR_peek_last_error()
    if error != 0, let text = ERR_reason_error_string(error) { reason = ": " + String(cString: text) }
    ERR_clear_error()
    return GRPCStatus(code: code, message: "TLS: \(what)\(reason)", origin: origin)
  }
}

extension TLSCredentials {
  /// The certificates of the chain, at least one. The caller frees them.
  func readCertificates() throws(GRPCStatus) -> [OpaquePointer] {
    try PEM(certificateChain, "certificate chain", beside: privateKey).certificates()
  }
}
