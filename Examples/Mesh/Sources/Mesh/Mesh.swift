import Foundation
import Switchboard
import SwitchboardXDS

/// A server of a version of a service, or a client of which a control plane decides where its calls go.
@main
struct Mesh {
  static func main() async {
    let words = Array(CommandLine.arguments.dropFirst())
    do {
      switch (words.first, words.count) {
      case ("server", 3): try await serve(words[1], port: Int(words[2]) ?? 0)
      case ("client", 3): try await call(words[1], seconds: Int(words[2]) ?? 1)
      case ("client", 4): try await call(words[1], seconds: Int(words[2]) ?? 1, statusPort: Int(words[3]))
      default:
        complain("usage: Mesh server VERSION PORT | Mesh client xds:///NAME SECONDS [STATUS-PORT]")
        exit(64)
      }
    } catch {
      complain("Mesh: \(GRPCStatus(describing: error))")
      exit(1)
    }
  }

  private static func serve(_ version: String, port: Int) async throws {
    let server = try Server(providers: [Greeter(version: version)])
    let address = try server.bind(host: "127.0.0.1", port: port)
    try await server.run { say("\(version) is listening on \(address)") }
  }

  /// Makes calls, and says each second who has answered. `statusPort` is for `switchboard xds`.
  private static func call(_ target: String, seconds: Int, statusPort: Int? = nil) async throws {
    var options = ChannelOptions()
    // Where the control plane is, is in the bootstrap that GRPC_XDS_BOOTSTRAP or GRPC_XDS_BOOTSTRAP_CONFIG has.
    options.resolvers = [XDSResolver()]
    options.security = .plaintext
    let channel = try Channel(target: target, options: options)
    var status: Server?
    if let statusPort {
      let server = try Server(providers: [ClientStatusService()])
      try server.bind(host: "127.0.0.1", port: statusPort)
      status = server
    }
    let callers = Callers(on: channel)
    let calls = Task { await callers.run(callers: 8) }
    for _ in 0..<seconds {
      try await Task.sleep(for: .seconds(1))
      say(await callers.report())
    }
    calls.cancel()
    await calls.value
    await channel.shutDown(grace: .seconds(1))
    await status?.shutDown(grace: .seconds(1))
  }

  private static func say(_ line: String) { FileHandle.standardOutput.write(Data("\(line)\n".utf8)) }

  private static func complain(_ line: String) { FileHandle.standardError.write(Data("\(line)\n".utf8)) }
}
