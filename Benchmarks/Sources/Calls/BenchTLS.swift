import Foundation
import Switchboard

/// What both sides show and trust where they are told `--tls`.
enum BenchTLS {
  static let credentials = TLSCredentials(
    certificateChain: file("localhost.pem"),
    privateKey: file("localhost.key")
  )

  static let trust = ClientTLS(trustRoots: file("localhost.pem"), serverNameOverride: "localhost")

  /// Found from where this source is, so that the program runs from any folder.
  private static func file(_ name: String) -> PEMSource {
    let benchmarks = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    return .file(benchmarks.appendingPathComponent("Data/\(name)").path)
  }
}
