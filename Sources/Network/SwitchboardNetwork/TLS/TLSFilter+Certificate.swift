// unsafe: OpenSSL: one owner a pointer, freed in `deinit`

import COpenSSL
import SwitchboardCall

extension TLSFilter {
  /// The peer's certificate, verified in the handshake; `nil` if it sent none.
  package var peerCertificate: PeerCertificate? {
    guard let certificate = SSL_get1_peer_certificate(ssl) else { return nil }
    defer { X509_free(certificate) }
    return PeerCertificate(
      subject: Self.text { switchboard_print_subject($0, certificate) },
      alternativeNames: Self.names(in: certificate),
      pem: Self.text { PEM_write_bio_X509($0, certificate) }
    )
  }

  /// The names in the peer's certificate; empty if it sent none.
  var peerNames: [PeerCertificate.AlternativeName] {
    guard let certificate = SSL_get1_peer_certificate(ssl) else { return [] }
    defer { X509_free(certificate) }
    return Self.names(in: certificate)
  }

  /// Whether the server's certificate names a host, by the rules for the name of the target. Every host is accepted if the certificate
  /// need not be valid, or if others decide about its names.
  package func names(host: String) -> Bool {
    if context.nameCheck != nil || SSL_get_verify_mode(ssl) == SSL_VERIFY_NONE { return true }
    guard let name = try? ServerName(host), let certificate = SSL_get1_peer_certificate(ssl) else {
      return false
    }
    defer { X509_free(certificate) }
    return name.isAddress
      ? X509_check_ip_asc(certificate, name.text, 0) == 1
      : X509_check_host(certificate, name.text, name.text.utf8.count, TLSContext.hostRules, nil) == 1
  }

  /// The negotiated parameters; `nil` before the handshake is complete.
  package var security: TLSParameters? {
    guard isSecure, let cipher = SSL_get_current_cipher(ssl) else { return nil }
    let remote = SSL_get1_peer_certificate(ssl)
    defer { X509_free(remote) }
    return TLSParameters(
      version: String(cString: SSL_get_version(ssl)),
      applicationProtocol: Self.selectedProtocol(ssl),
      cipherSuite: SSL_CIPHER_standard_name(cipher).map { String(cString: $0) } ?? "",
      localCertificate: Self.encoded(SSL_get_certificate(ssl)),
      remoteCertificate: Self.encoded(remote)
    )
  }

  private static func selectedProtocol(_ ssl: OpaquePointer) -> String {
    var start: UnsafePointer<UInt8>?
    var count: UInt32 = 0
    SSL_get0_alpn_selected(ssl, &start, &count)
    return String(decoding: UnsafeBufferPointer(start: start, count: Int(count)), as: UTF8.self)
  }

  private static func encoded(_ certificate: OpaquePointer?) -> [UInt8] {
    guard let certificate else { return [] }
    return bytes { i2d_X509_bio($0, certificate) }
  }

  /// The output of one of OpenSSL's print functions.
  static func text<Result>(_ print: (OpaquePointer) -> Result) -> String {
    String(decoding: bytes(print), as: UTF8.self)
  }

  private static func bytes<Result>(_ print: (OpaquePointer) -> Result) -> [UInt8] {
    guard let target = BIO_new(BIO_s_mem()) else { return [] }
    defer { BIO_free(target) }
    _ = print(target)
    var start: UnsafeMutablePointer<CChar>?
    let count = switchboard_bio_contents(target, &start)
    return Array(UnsafeRawBufferPointer(start: start, count: count))
  }

  static func names(in certificate: OpaquePointer) -> [PeerCertificate.AlternativeName] {
    guard let names = switchboard_alternative_names(certificate) else { return [] }
    defer { GENERAL_NAMES_free(names) }
    return (0..<switchboard_alternative_name_count(names)).compactMap { index in
      var kind: Int32 = 0
      var count: Int32 = 0
      guard let start = switchboard_alternative_name(names, index, &kind, &count) else { return nil }
      let bytes = UnsafeBufferPointer(start: start, count: Int(count))
      let text = String(decoding: bytes, as: UTF8.self)
      switch kind {
      case GEN_DNS: return .dns(text)
      case GEN_URI: return .uri(text)
      case GEN_EMAIL: return .email(text)
      default: return IPAddressText(bytes).map { .ipAddress($0.text) }
      }
    }
  }
}

/// The numeric form of an internet address, from its bytes in a certificate.
struct IPAddressText {
  let text: String

  /// `nil` unless there are 4 or 16 bytes.
  init?(_ bytes: UnsafeBufferPointer<UInt8>) {
    switch bytes.count {
    case 4:
      text = bytes.map(String.init).joined(separator: ".")
    case 16:
      // Not abbreviated, so that every address has only one form.
      text = stride(from: 0, to: 16, by: 2)
        .map { String(Int(bytes[$0]) << 8 | Int(bytes[$0 + 1]), radix: 16) }
        .joined(separator: ":")
    default:
      return nil
    }
  }
}
