import Switchboard
import SwitchboardServices
import SwitchboardXDS

/// The server for the test cases, and for tests of meshes, on the addresses given on the command line.
struct InteropServer {
  let server: Server
  private let log = LineLog(label: "Interop")
  /// The listening addresses: the port and then the Unix socket, if any, and the maintenance port, if any.
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
    guard !arguments.isSet("secure_mode") else {
      throw Arguments.UsageError(
        description:
          "--secure_mode needs a server that a control plane configures, which there is not: use --use_tls"
      )
    }
    let test = TestServiceProvider(
      tokens: account.map { TokenVerifier(account: $0) },
      identity: arguments.identity
    )
    let (health, channelz) = (HealthService(), ChannelzService())
    let providers: [any CallHandlerProvider] = [
      test, health, HealthSwitch(health: health), channelz, ClientStatusService(),
    ]
    server = try Server(providers: providers + [ReflectionService(describing: providers)], options: options)
    channelz.add(server, name: "interop")
    let (host, port) = (arguments.string("host") ?? "localhost", arguments.number("port"))
    var addresses = [try server.bind(host: host, port: port)]
    if let path = arguments.string("unix_socket") { addresses.append(try server.bind(unixPath: path)) }
    let maintenance = arguments.number("maintenance_port")
    if maintenance != 0, maintenance != port {
      addresses.append(try server.bind(host: host, port: maintenance))
    }
    self.addresses = addresses
  }
}
