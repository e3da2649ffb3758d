import CertificateSupport
import Foundation
import SwitchboardCall
import TestSupport
import Testing

/// The TLS of `Peers/tls_front.py` before a server, with the certificate `SpecialCertificates.named`.
final class TLSFront: Sendable {
  let port: Int
  private let process: ChildProcess

  init(to server: Int) throws {
    let files = try [SpecialCertificates.namedCertificate, SpecialCertificates.namedKey].map { source in
      guard case .bytes(let bytes) = source else { return "" }
      return try temporaryFile(bytes, suffix: "pem")
    }
    let script = TestFolders.peers().appending(path: "tls_front.py").path
    process = try ChildProcess(TestFolders.python, [script, "\(server)"] + files)
    port = try #require(process.line().flatMap { Int($0) })
  }

  /// Which names clients have asked for since the last time; `nil` for a connection without a name.
  func asked() throws -> [String?] {
    process.write("\n")
    return try JSONDecoder().decode([String?].self, from: Data(try #require(process.line()).utf8))
  }
}
