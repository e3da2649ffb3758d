// unsafe: OpenSSL: one owner a pointer, freed in `deinit`

import COpenSSL
import SwitchboardCall

/// The certificate that a side shows, the first of its chain.
struct LeafCertificate: ~Copyable {
  private let certificates: [OpaquePointer]

  init(_ credentials: TLSCredentials) throws(GRPCStatus) {
    certificates = try credentials.readCertificates()
  }

  deinit { for certificate in certificates { X509_free(certificate) } }

  /// Why peers will refuse it: they check its times, and that of a server by its names.
  borrowing func remarks(isServer: Bool) -> [OptionRemark] {
    guard let leaf = certificates.first else { return [] }
    var reasons: [String] = []
    if X509_cmp_current_time(X509_get0_notAfter(leaf)) < 0 {
      reasons.append(
        "the certificate has expired, \(Self.text(X509_get0_notAfter(leaf))): peers will refuse it"
      )
    }
    if X509_cmp_current_time(X509_get0_notBefore(leaf)) > 0 {
      reasons.append(
        "the certificate is not valid before \(Self.text(X509_get0_notBefore(leaf))): peers will refuse it"
      )
    }
    if isServer, TLSFilter.names(in: leaf).isEmpty {
      reasons.append(
        "the certificate names no host (subjectAltName): clients will refuse it, because a common name does not count"
      )
    }
    return reasons.map { OptionRemark(of: Self.option(isServer: isServer), $0) }
  }

  /// The option that has a side's certificate.
  private static func option(isServer: Bool) -> String { isServer ? "tls" : "security" }

  private static func text(_ time: UnsafePointer<ASN1_TIME>?) -> String {
    TLSFilter.text { ASN1_TIME_print($0, time) }
  }
}

extension ServerTLS {
  /// Whether there is a file that may have changed.
  package var hasFiles: Bool {
    [credentials.certificateChain, credentials.privateKey, trustRoots].contains {
      if case .file = $0 { true } else { false }
    }
  }
}
