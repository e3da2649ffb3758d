import CertificateSupport
import FaultSupport
import Foundation
import Switchboard

/// A program for fault tests that prints a line about each step and call.
@main struct FaultSubject {
  static func main() async {
    let words = Array(CommandLine.arguments.dropFirst())
    do {
      try ScarceMemory.begin()
      switch (words.first, words.count) {
      case ("call", 4): try await call(words[1], words[2], isSecure: words[3] == "tls")
      case ("clock", 1): try await ClockScenario().run()
      case ("exit", 1): try ExitScenario.run()
      case ("descriptors", 1): try await DescriptorScenario().run()
      case ("heap", 2...) where words[1] == "serve": try await HeapScenario.serve(words.dropFirst(2))
      case ("heap", 2) where words[1] == "inprocess": try await HeapScenario.callInProcess()
      case ("heap", 3...) where words[1] == "call":
        try await HeapScenario.call(port: Int(words[2]) ?? 0, isSecure: words.contains("tls"))
      case ("heap", 3) where words[1] == "mesh": try await HeapScenario.beConfigured(port: Int(words[2]) ?? 0)
      case ("openssl", 2): try TLSMemoryScenario.run(words[1])
      case ("replica", 4): try await ReplicaScenario.serve(words[1], Int(words[2]) ?? 0, name: words[3])
      case ("start", 2): try DescriptorScenario.start(with: Int(words[1]) ?? 0)
      case ("serve", 2): try await DescriptorScenario.serve(with: Int(words[1]) ?? 0)
      default: throw GRPCStatus(code: .invalidArgument, message: "what is to be done?")
      }
    } catch {
      say("\(error)")
      exit(1)
    }
  }

  static func say(_ line: String) {
    FileHandle.standardOutput.write(Data("\(line)\n".utf8))
  }

  /// Makes one call of a kind, as a client that will be killed.
  private static func call(_ kind: String, _ target: String, isSecure: Bool) async throws {
    guard let kind = CallKind(rawValue: kind) else {
      throw GRPCStatus(code: .invalidArgument, message: "\(kind) is no kind of call")
    }
    var options = ChannelOptions()
    // The client is killed before it verifies the server.
    if isSecure {
      options.security = .tls(ClientTLS(trustRoots: TestCertificates.authority))
    }
    let status = await FaultCall(kind, on: try Channel(target: target, options: options)).outcome()
    say("\(status)")
  }
}
