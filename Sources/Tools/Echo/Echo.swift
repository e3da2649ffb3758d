import EchoService
import Glibc
import Switchboard

/// The example of the interceptor tutorial: a server that echoes messages, and its client.
@main
struct Echo {
  static func main() async {
    // If a pipe that reads the output is closed, the program keeps running.
    signal(SIGPIPE, SIG_IGN)
    let arguments: Arguments
    do {
      arguments = try Arguments(Array(CommandLine.arguments.dropFirst()))
    } catch {
      complain("\(error)\nTry: Echo --help")
      exit(64)
    }
    do {
      exit(try await run(arguments))
    } catch {
      complain("\(GRPCStatus(describing: error))")
      exit(1)
    }
  }

  private static func run(_ arguments: Arguments) async throws -> Int32 {
    switch arguments.mode {
    case .help:
      print(Arguments.help)
      return 0
    case .server:
      try await serve(arguments)
      return 0
    case .client(let rpc, let message):
      return try await call(rpc, message, arguments).isOk ? 0 : 1
    }
  }

  private static func serve(_ arguments: Arguments) async throws {
    var options = ServerOptions()
    if arguments.isSecure { options.tls = ServerTLS(credentials: SampleCertificates.server) }
    if arguments.answersWeb {
      // Pages of every origin may call: this server has nothing to hide.
      options.web = WebOptions(origins: .any)
      options.payloadFormats = [JSONFormat()]
    }
    let server = try Server(providers: [EchoProvider()], options: options)
    let address = try server.bind(host: arguments.host, port: arguments.port)
    try await server.run {
      print("starting \(arguments.isSecure ? "secure" : "insecure") server")
      if arguments.port == 0 { print("listening on \(address)") }
      // A program that reads this through a pipe waits for it.
      fflush(nil)
    }
  }

  private static func call(
    _ rpc: Arguments.RPC,
    _ message: String,
    _ arguments: Arguments
  ) async throws -> GRPCStatus {
    var options = ChannelOptions()
    options.security = .plaintext
    if arguments.isSecure {
      options.security = .tls(
        ClientTLS(trustRoots: SampleCertificates.authority, serverNameOverride: SampleCertificates.serverName)
      )
    }
    options.wireProtocol = arguments.wireProtocol
    let channel = try Channel.connect(host: arguments.host, port: arguments.port, options: options)
    let client =
      arguments.intercepts
      ? Echo_EchoClient(channel: channel, interceptors: ExampleClientInterceptorFactory())
      : Echo_EchoClient(channel: channel)
    let caller = EchoCaller(client: client)
    let status = try await Task(executorPreference: channel.eventLoop) {
      try await caller.call(rpc, message)
    }.value
    if status.isOk {
      print("\(rpc.rawValue) completed with status: \(status.code)")
    } else {
      complain("\(rpc.rawValue) failed with status: \(status)")
    }
    await channel.shutDown(grace: .zero)
    // The user did not get the response.
    guard fflush(nil) == 0 else {
      throw GRPCStatus(code: .dataLoss, message: "cannot print the response")
    }
    return status
  }

  private static func complain(_ message: String) {
    let line = "Echo: \(message)\n"
    _ = line.withCString { write(STDERR_FILENO, $0, strlen($0)) }
  }
}
