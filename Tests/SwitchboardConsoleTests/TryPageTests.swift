import CallTestSupport
import Foundation
import ServerTestSupport
import Switchboard
import SwitchboardProtobuf
import TestSupport
import Testing

@testable import SwitchboardConsole

/// The view Try in Chromium, with our server and grpcio's.
@Suite(.mayBlock, .timeLimit(.minutes(5))) struct TryPageTests {
  private static let isInstalled = FileManager.default.isExecutableFile(atPath: "/usr/bin/chromium")
  private static let token = "a-token-of-the-test"

  private func console(_ permissions: Set<ConsolePermission>) throws -> Console {
    var options = ConsoleOptions()
    options.access = .token(Self.token)
    options.logger = .quiet
    options.permissions = .everyone(permissions)
    // What a busy machine delays is waited for.
    return try Console(nil, options, time: ManualTime())
  }

  @Test(.enabled(if: isInstalled, "chromium is not installed: scripts/setup --tests installs it"))
  func thePageCallsMethods() async throws {
    let peer = try PythonPeer("kinds_peer.py", [TestFolders.root.appending(path: "Protos").path])
    let port = try #require(peer.line())
    var options = ServerOptions()
    options.web = WebOptions()
    options.payloadFormats = [JSONFormat()]
    try await withServer([KindsProvider()], options: options) { server, _ async throws in
      try await withChannel(to: "127.0.0.1:\(port)") { channel async throws in
        let (open, closed) = (try console([.call]), try console([]))
        for console in [open, closed] {
          console.add(server, name: "kinds")
          console.add(channel, name: "peer")
        }
        let other = try closed.serve(port: 0)
        let pictures = ProcessInfo.processInfo.environment["CONSOLE_PICTURES"] ?? ""
        let address = "http://127.0.0.1:\(try open.serve(port: 0).port)"
        let browser = try PythonPeer(
          "console_try.py",
          [address, Self.token, pictures, "http://127.0.0.1:\(other.port)"]
        )
        var last: String?
        while let line = browser.line() {
          last = line
          #expect(line == "done" || line.hasPrefix("ok "), "\(line)")
        }
        #expect(last == "done", "the browser's last step: \(last ?? "none")")
        await open.shutDown()
        await closed.shutDown()
      }
    }
    peer.stop()
  }
}
