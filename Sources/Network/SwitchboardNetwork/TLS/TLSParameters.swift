/// What was negotiated in a handshake.
package struct TLSParameters: Sendable, Hashable {
  /// The standard name of the cipher suite, such as `TLS_AES_128_GCM_SHA256`.
  package let cipherSuite: String
  /// The certificate of this side, in DER; empty if it sent none.
  package let localCertificate: [UInt8]
  /// The certificate of the peer, in DER; empty if it sent none.
  package let remoteCertificate: [UInt8]
}
