import Foundation
import Switchboard

/// What both sides show and trust where they are told `--tls`: `scripts/bench-certificate` makes it.
enum BenchTLS {
  static let credentials = TLSCredentials(
    certificateChain: file("localhost.pem"),
    privateKey: file("localhost.key")
  )

  static let trust = ClientTLS(trustRoots: file("localhost.pem"), serverNameOverride: "localhost")

  /// Found from where this source is, so that the program runs from any folder.
  private static func file(_ name: String) -> PEMSource {
    let sources = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    let root = sources.deletingLastPathComponent().deletingLastPathComponent()
    return .file(root.appendingPathComponent(".build/peers/\(name)").path)
  }
}
