/// What was negotiated in a handshake.
package struct TLSParameters: Sendable, Hashable {
  /// The version, such as `TLSv1.3`.
  package let version: String
  /// What ALPN has selected, such as `h2`; empty if nothing.
  package let applicationProtocol: String
  /// The standard name of the cipher suite, such as `TLS_AES_128_GCM_SHA256`.
  package let cipherSuite: String
  /// The certificate of this side, in DER; empty if it sent none.
  package let localCertificate: [UInt8]
  /// The certificate of the peer, in DER; empty if it sent none.
  package let remoteCertificate: [UInt8]
}
