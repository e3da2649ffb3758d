import Foundation
import Switchboard
import SwitchboardREST
import TestSupport
import Testing

/// The same requests, to a server of ours and to Envoy's transcoder in front of it.
@Suite(.mayBlock, .timeLimit(.minutes(5))) struct EnvoyTests {
  @Test func answersAsEnvoyDoes() async throws {
    let environment = ProcessInfo.processInfo.environment
    let (seed, count) = (environment["REST_SEED"] ?? "1", environment["REST_COUNT"] ?? "500")
    let lines = try await withRESTServer { address in
      let peer = try PythonPeer(
        "envoy_differential.py",
        [address, TestFolders.root.appending(path: "Protos").path, seed, count]
      )
      var lines: [String] = []
      while let line = peer.line() { lines.append(line) }
      peer.stop()
      return lines
    }
    #expect(lines.last == "done")
    let surprises = lines.filter { !$0.hasPrefix("difference ") && $0 != "done" }
    #expect(surprises == [])
    // Each difference is listed in docs/guide/REST.md, and was seen.
    let text = try String(contentsOf: TestFolders.root.appending(path: "docs/guide/REST.md"), encoding: .utf8)
    for line in lines where line.hasPrefix("difference ") {
      let parts = line.dropFirst("difference ".count).split(separator: ": ").map(String.init)
      #expect(text.contains("| \(parts[0]) |"), "docs/guide/REST.md does not list it: \(line)")
      #expect(parts.last != "0", "no request differs so: \(line)")
    }
  }
}
