import CertificateSupport
import Foundation
import TestSupport

extension PlanePeer {
  /// The text of a bootstrap with this control plane, and with the certificate provider `files`: a certificate of a client, and the
  /// authority of `SpecialCertificates`.
  func securedBootstrap() throws -> String {
    var files: [String: String] = [:]
    for (member, source) in [
      ("certificate_file", TestCertificates.clientCertificate),
      ("private_key_file", TestCertificates.clientKey),
      ("ca_certificate_file", SpecialCertificates.authority),
    ] {
      guard case .bytes(let bytes) = source else { continue }
      files[member] = try temporaryFile(bytes, suffix: "pem")
    }
    let plugin: [String: Any] = ["plugin_name": "file_watcher", "config": files]
    let server: [String: Any] = [
      "server_uri": "127.0.0.1:\(port)", "channel_creds": [["type": "insecure"]],
    ]
    let all: [String: Any] = [
      "xds_servers": [server], "node": ["id": "n"], "certificate_providers": ["files": plugin],
    ]
    return String(decoding: try JSONSerialization.data(withJSONObject: all), as: UTF8.self)
  }
}
