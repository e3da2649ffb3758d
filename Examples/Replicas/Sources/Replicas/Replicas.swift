import Foundation
import Switchboard

/// Servers of one name, and a client that counts which of them answer.
@main
struct Replicas {
  static func main() async {
    // If a pipe that reads the output is closed, the program keeps running.
    signal(SIGPIPE, SIG_IGN)
    do {
      try await run(try Arguments(Array(CommandLine.arguments.dropFirst())))
    } catch let error as Arguments.UsageError {
      complain("\(error.reason)\n\(Arguments.usage)")
      exit(64)
    } catch {
      complain("\(GRPCStatus(describing: error))")
      exit(1)
    }
  }

  private static func run(_ arguments: Arguments) async throws {
    switch arguments.mode {
    case .help: print(Arguments.help)
    case .server(let name): try await serve(name, arguments)
    case .client(let target): try await call(target, arguments)
    }
  }

  private static func serve(_ name: String, _ arguments: Arguments) async throws {
    let replica = Replica(
      name: name,
      delay: .milliseconds(arguments.delay),
      fails: arguments.fails
    )
    let server = try Server(providers: [replica])
    let address = try server.bind(host: arguments.host, port: arguments.port)
    // On SIGTERM the server tells its clients to go elsewhere, and finishes the calls that it has.
    try await server.run {
      print("\(name) is listening on \(address)")
      // A program that reads this through a pipe waits for it.
      fflush(nil)
    }
  }

  private static func call(_ target: String, _ arguments: Arguments) async throws {
    let channel = try channel(target, arguments)
    await settle(channel)
    let callers = Callers(
      client: Replicas_ReplicaClient(channel: channel),
      options: CallOptions(timeout: .milliseconds(arguments.timeout))
    )
    let answers = await callers.make(arguments.calls, by: arguments.callers)
    for (name, count) in answers.counts.sorted(by: { $0.key < $1.key }) { print("\(name) \(count)") }
    print("failed \(answers.failed)")
    if let reason = answers.reason { complain("a call failed: \(reason)") }
    await channel.shutDown(grace: .zero)
  }

  /// A channel with the policy or the service config that was asked for. What is wrong with them or with the target is an
  /// error in the command line.
  private static func channel(_ target: String, _ arguments: Arguments) throws -> Channel {
    var options = ChannelOptions()
    options.security = .plaintext
    options.resolvers = [FileResolver()]
    options.loadBalancingPolicies = [RandomChoice()]
    do {
      if let path = arguments.config {
        options.serviceConfig = try ServiceConfig(json: text(of: path))
      } else if let policy = arguments.policy {
        options.serviceConfig = try config(choosing: policy)
      }
      return try Channel(target: target, options: options)
    } catch let status as GRPCStatus where status.code == .invalidArgument {
      let file = arguments.config.map { "\($0): " } ?? ""
      throw Arguments.UsageError("\(file)\(status.message ?? "\(status)")")
    }
  }

  private static func text(of path: String) throws -> String {
    do { return try String(contentsOfFile: path, encoding: .utf8) } catch {
      throw Arguments.UsageError("\(path) cannot be read: \(error.localizedDescription)")
    }
  }

  private static func config(choosing policy: String) throws -> ServiceConfig {
    let configs = try JSONSerialization.data(withJSONObject: [
      "loadBalancingConfig": [[policy: [String: Int]()]]
    ])
    return try ServiceConfig(json: String(decoding: configs, as: UTF8.self))
  }

  /// Connects. A channel makes calls as soon as one server is ready, which would get the first of them all: this gives
  /// the others a moment, so that the counts show the policy.
  private static func settle(_ channel: Channel) async {
    let states = channel.connectivity
    channel.connect()
    for await state in states where state == .ready || state == .transientFailure { break }
    try? await Task.sleep(for: .milliseconds(200))
  }

  private static func complain(_ message: String) {
    FileHandle.standardError.write(Data("Replicas: \(message)\n".utf8))
  }
}
