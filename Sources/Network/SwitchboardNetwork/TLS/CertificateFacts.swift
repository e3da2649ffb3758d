// unsafe: OpenSSL: one owner a pointer, freed where it is made

import COpenSSL
import SwitchboardCall

/// What a certificate says, for people.
package struct CertificateFacts: Sendable, Hashable {
  /// The subject and the issuer, in RFC 2253 form.
  package let subject: String
  package let issuer: String
  package let names: [PeerCertificate.AlternativeName]
  /// In hexadecimal digits.
  package let serial: String
  /// The time from which on and until which it is valid, in seconds since 1970.
  package let validFrom: Int64
  package let validUntil: Int64

  /// `nil` if the bytes are not a certificate in DER.
  package init?(der: [UInt8]) {
    let certificate = der.withUnsafeBufferPointer { bytes -> OpaquePointer? in
      var start = bytes.baseAddress
      return d2i_X509(nil, &start, bytes.count)
    }
    guard let certificate else {
      ERR_clear_error()
      return nil
    }
    defer { X509_free(certificate) }
    self.init(certificate)
  }

  /// The certificate stays its owner's.
  init(_ certificate: OpaquePointer) {
    subject = TLSFilter.text { switchboard_print_subject($0, certificate) }
    issuer = TLSFilter.text { switchboard_print_issuer($0, certificate) }
    names = TLSFilter.names(in: certificate)
    serial = TLSFilter.text { i2a_ASN1_INTEGER($0, X509_get0_serialNumber(certificate)) }
    validFrom = Self.seconds(X509_get0_notBefore(certificate))
    validUntil = Self.seconds(X509_get0_notAfter(certificate))
  }

  private static func seconds(_ time: UnsafePointer<ASN1_TIME>?) -> Int64 {
    let start = ASN1_TIME_set(nil, 0)
    defer { ASN1_TIME_free(start) }
    var days: Int32 = 0
    var seconds: Int32 = 0
    guard ASN1_TIME_diff(&days, &seconds, start, time) == 1 else {
      ERR_clear_error()
      return 0
    }
    return Int64(days) * 86_400 + Int64(seconds)
  }
}

/// What a side shows of itself, and whom it trusts.
package struct TLSFacts: Sendable {
  /// The certificate that it shows; `nil` if it has none.
  package let certificate: CertificateFacts?
  /// How many authorities it trusts, of those that are known without looking for one.
  package let trustedCount: Int
  /// When the certificates were read.
  package let read: ContinuousClock.Instant
  /// On a client, the name that servers must have.
  package let serverName: String?
}

extension TLSContext {
  package var facts: TLSFacts {
    TLSFacts(
      certificate: SSL_CTX_get0_certificate(raw).map { CertificateFacts($0) },
      trustedCount: Int(switchboard_ssl_ctx_trusted_count(raw)),
      read: read,
      serverName: serverName?.text
    )
  }
}
