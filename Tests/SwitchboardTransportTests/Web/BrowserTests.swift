import Foundation
import ServerTestSupport
import SwitchboardCall
import SwitchboardNetwork
import SwitchboardTransport
import TestSupport
import Testing

/// A page in a real browser that calls two servers of other origins.
@Suite(.mayBlock, .timeLimit(.minutes(5))) struct BrowserTests {
  private static let browser = "/usr/bin/chromium"
  private static let isInstalled = FileManager.default.isExecutableFile(atPath: browser)

  /// Browsers use HTTP/1.1 in plaintext, and HTTP/2 over TLS.
  @Test(
    .enabled(if: isInstalled, "chromium is not installed: scripts/setup --tests installs it"),
    arguments: [Wire.ipv4, .tls]
  )
  func aPageInABrowserCallsTheServer(_ wire: Wire) async throws {
    let page = try PythonPeer("web_page.py", [])
    let port = try #require(page.line())
    var options = ServerOptions()
    options.web = WebOptions(origins: .only(["http://127.0.0.1:\(port)"]))
    options.web?.exposedHeaders = ["one"]
    options.payloadFormats = [BytesFormat()]
    var strict = options
    strict.web = WebOptions(origins: .only(["http://elsewhere.example"]))
    try await TestPair.with(wire, server: options) { pair async throws in
      try await TestPair.with(wire, server: strict) { stranger async throws in
        let query = "target=\(origin(pair, wire))&stranger=\(origin(stranger, wire))"
        let document = try dump("http://127.0.0.1:\(port)/?\(query)")
        let lines = document.split(separator: "\n").map(String.init)
        for wanted in Self.wanted {
          #expect(lines.contains { $0.contains(wanted) }, "\(wanted) in \(document)")
        }
      }
    }
    page.stop()
  }

  private static let wanted = [
    "unary: 200 [1,2,3] grpc-status:0", "text: 200 [4,5] grpc-status:0",
    "stream: 200 [1] [2] [3] grpc-status:0", "text stream: 200 [1] [2] grpc-status:0",
    "large: 200 200000 bytes grpc-status:0",
    "error: 200  grpc-status:9 grpc-message:no why:asked to",
    "unknown: 200  grpc-status:12", "deadline: 200  grpc-status:4", "metadata: yes", "stranger: TypeError",
    "connect: 200 [1,2,3]", "connect stream: 200 [1] [2] {}", "connect get: 200 [4,5]",
    "connect error: 400 failed_precondition no", "connect unknown: 404 unimplemented",
    "connect stranger: TypeError",
    "done",
  ]

  private func origin(_ pair: TestPair, _ wire: Wire) -> String {
    let port = "\(pair.address)".split(separator: ":").last ?? ""
    return (wire == .tls ? "https://127.0.0.1:" : "http://127.0.0.1:") + port
  }

  /// The document of a page after loading; ours finishes loading when it has made its calls.
  private func dump(_ address: String) throws -> String {
    let profile = FileManager.default.temporaryDirectory.appending(path: "switchboard-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: profile) }
    let flags = [
      "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
      "--disable-background-networking", "--disable-component-update", "--no-proxy-server",
      // No browser knows the authority of the certificates.
      "--ignore-certificate-errors", "--user-data-dir=\(profile.path)",
      "--dump-dom", address,
    ]
    return try ChildProcess(Self.browser, flags, errors: .discarded).allOutput()
  }
}
