import Foundation
import TestSupport
import Testing

/// The HTTP proxy of `Peers/connect_proxy.py`.
final class ConnectProxy: Sendable {
  let port: Int
  private let process: ChildProcess

  /// With another status than 200, it opens no tunnels.
  init(status: Int = 200) throws {
    let script = TestFolders.peers().appending(path: "connect_proxy.py").path
    process = try ChildProcess(TestFolders.python, [script, "\(status)"])
    port = try #require(process.line().flatMap { Int($0) })
  }

  /// What it was asked for since the last time.
  func asked() throws -> [String] {
    process.write("\n")
    return try JSONDecoder().decode([String].self, from: Data(try #require(process.line()).utf8))
  }
}
