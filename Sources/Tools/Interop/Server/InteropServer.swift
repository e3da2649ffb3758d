import Switchboard

/// The server for the test cases, on the addresses given on the command line.
struct InteropServer {
  let server: Server
  private let log = LineLog(label: "Interop")
  /// The listening addresses: the port and then the unix socket, if any.
  let addresses: [SocketAddress]

  /// Serves until the process receives a signal to end.
  func run(ready: @escaping @Sendable () -> Void) async throws {
    try await server.run(ready: ready)
    await log.flush()
  }

  init(_ arguments: Arguments) throws {
    var options = ServerOptions()
    options.tls = try arguments.serverTLS
    options.logger = Logger(log)
    let account = try arguments.string("service_account_key_file").map { try ServiceAccount(path: $0) }
    let provider = TestServiceProvider(tokens: account.map { TokenVerifier(account: $0) })
    server = try Server(providers: [provider], options: options)
    var addresses = [
      try server.bind(host: arguments.string("host") ?? "localhost", port: arguments.number("port"))
    ]
    if let path = arguments.string("unix_socket") { addresses.append(try server.bind(unixPath: path)) }
    self.addresses = addresses
  }
}
