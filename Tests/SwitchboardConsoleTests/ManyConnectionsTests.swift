import Foundation
import ServerTestSupport
import Switchboard
import SwitchboardCall
import SwitchboardConsole
import TestSupport
import Testing

/// The page, in Chromium, of a server that has as many connections as `PAGE_CONNECTIONS` says, and as the process
/// may have: another process holds them.
@Suite(.mayBlock, .timeLimit(.minutes(5))) struct ManyConnectionsTests {
  private static let isInstalled = FileManager.default.isExecutableFile(atPath: "/usr/bin/chromium")
  private static let token = "a-token-of-the-test"
  private static let count: Int = {
    let wanted = ProcessInfo.processInfo.environment["PAGE_CONNECTIONS"].flatMap(Int.init) ?? 300
    var limit = rlimit()
    guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return wanted }
    // The server leaves some descriptors free.
    return min(wanted, Int(clamping: limit.rlim_cur) / 4 * 3)
  }()

  @Test(.enabled(if: isInstalled, "chromium is not installed: scripts/setup --tests installs it"))
  func thePageNeverHasMoreThanAScreenOfThem() async throws {
    var serverOptions = ServerOptions()
    serverOptions.logger = .quiet
    try await withServer([], options: serverOptions) { server, served async throws in
      var options = ConsoleOptions()
      options.access = .token(Self.token)
      options.logger = .quiet
      let console = try Console(options: options)
      console.add(server, name: "shop")
      let address = try console.serve(port: 0)
      let browser = try PythonPeer(
        "console_many.py",
        ["http://127.0.0.1:\(address.port)", Self.token, "", "\(served.port)", "\(Self.count)"]
      )
      var last: String?
      while let line = browser.line() {
        last = line
        if line.hasPrefix("ok took ") { print(line) }
        #expect(line == "done" || line.hasPrefix("ok "), "\(line)")
      }
      #expect(last == "done", "the browser's last step: \(last ?? "none")")
      await console.shutDown()
    }
  }
}
