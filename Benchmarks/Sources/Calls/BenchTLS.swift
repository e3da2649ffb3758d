import Foundation
import Switchboard

/// The certificate and trust of both sides with `--tls`, from `scripts/bench/certificate`.
enum BenchTLS {
  static let credentials = TLSCredentials(
    certificateChain: file("localhost.pem"),
    privateKey: file("localhost.key")
  )

  static let trust = ClientTLS(trustRoots: file("localhost.pem"), serverNameOverride: "localhost")

  /// Relative to this source file, so that the program runs in any directory.
  private static func file(_ name: String) -> PEMSource {
    let sources = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    let root = sources.deletingLastPathComponent().deletingLastPathComponent()
    return .file(root.appendingPathComponent(".build/peers/\(name)").path)
  }
}
