// text: the address that the program listens on

import SwitchboardCall
import SwitchboardNetwork

/// A gRPC server: a set of services, and any number of addresses on which it listens.
///
/// ```swift
/// let server = try Server(providers: [ShopProvider()])
/// let address = try server.bind(host: "127.0.0.1", port: 50051)
/// print("listening on \(address)")
/// try await server.run()
/// ```
public final class Server: Sendable {
  let core: ServerCore

  private init(_ core: ServerCore) { self.core = core }

  /// What it was made of.
  package var providers: [any CallHandlerProvider] { core.providers }

  /// Runs on the loops of `group`, or on its own loop.
  public convenience init(
    providers: [any CallHandlerProvider],
    options: ServerOptions = ServerOptions(),
    group: LoopGroup? = nil
  ) throws(GRPCStatus) {
    let loops: LoopGroup
    if let group { loops = group } else { loops = try LoopGroup() }
    self.init(try ServerCore(providers, options, loops))
  }

  /// Releasing a server shuts it down like `shutDown`, without waiting: calls in progress may finish.
  /// If it is listening, the log has a warning.
  deinit { core.wasReleased() }

  /// Listens on an address, in addition to previous ones.
  ///
  /// The host is numeric or `localhost`. With port zero, the system chooses a port, which the returned address
  /// contains.
  @discardableResult
  public func bind(host: String, port: Int) throws(GRPCStatus) -> SocketAddress {
    let name = host == "localhost" ? "127.0.0.1" : host
    guard let address = SocketAddress.numeric(name, port: port) else { throw .cannotListen(host, port) }
    let listening = try listen(address)
    if !usesTLS, !HostNames.isLocal(host) {
      for page in core.options.pages { page.wasExposed?(host) }
    }
    return listening
  }

  /// Listens on a Unix socket. An existing socket file is replaced if no process listens on it.
  @discardableResult
  public func bind(unixPath path: String) throws(GRPCStatus) -> SocketAddress {
    if let written = ListenMistake.pathOfURL(path) {
      throw GRPCStatus(
        code: .invalidArgument,
        message: "bind(unixPath:) takes a path, not a URL: write bind(unixPath: \(written.debugDescription))"
      )
    }
    guard let address = SocketAddress.unix(path: path) else {
      throw GRPCStatus(
        code: .invalidArgument,
        message: "not a path of a Unix socket, which has 1 to 107 bytes: \(path.debugDescription)"
      )
    }
    return try listen(address)
  }

  /// Listens on a Unix socket whose name is not a file, which only Linux has: the target `unix-abstract:name`. Any user
  /// of the system may connect.
  @discardableResult
  public func bind(unixAbstractName name: String) throws(GRPCStatus) -> SocketAddress {
    guard let address = SocketAddress.unix(abstractName: name) else {
      throw GRPCStatus(code: .invalidArgument, message: "not a name of an abstract Unix socket: \(name)")
    }
    if name.utf8.first == UInt8(ascii: "@") {
      core.options.logger.log(
        .warning,
        "the name of an abstract socket begins with @, which tools write for what makes it abstract: leave it out",
        ["target": "\(address)"]
      )
    }
    return try listen(address)
  }

  /// Uses other certificates for new connections. Open connections keep theirs.
  ///
  /// Throws and changes nothing if the new ones cannot be used.
  public func reload(_ tls: ServerTLS) throws(GRPCStatus) {
    try core.replaceTLS(tls)
  }

  /// Reads the certificate files again and uses them for new connections, for certificates that are renewed in place.
  ///
  /// Throws and changes nothing if their content cannot be used, or if they were not given as files.
  public func reloadCertificates() throws(GRPCStatus) { try core.reloadTLS() }

  private func listen(_ address: SocketAddress) throws(GRPCStatus) -> SocketAddress {
    var listeners: [Listener] = []
    if core.options.reusePort, address.ipBytes != nil {
      // The first listener determines the port if the address has none.
      for loop in core.group.loops {
        listeners.append(try listener(listeners.first?.address ?? address, on: loop, sharesPort: true))
      }
    } else {
      if core.options.reusePort {
        core.options.logger.log(
          .warning,
          "ServerOptions: reusePort has no effect on a Unix socket",
          ["address": "\(address)"]
        )
      }
      listeners.append(try listener(address, on: core.group.nextLoop(), sharesPort: false))
    }
    for listener in listeners {
      // A server that has stopped in the meantime closes its listeners.
      guard core.add(listener) else { throw .serverStopped }
    }
    for (index, listener) in listeners.enumerated() where !listener.start() {
      for listener in listeners { core.remove(listener) }
      for started in listeners[..<index] { started.close() }
      throw .loopEnded
    }
    return listeners.first?.address ?? address
  }

  /// A listener that shares its port serves its connections on its own loop, and the system chooses the listener. Others
  /// give each to the next loop.
  private func listener(
    _ address: SocketAddress,
    on loop: Loop,
    sharesPort: Bool
  ) throws(GRPCStatus) -> Listener {
    let core = core
    do {
      return try Listener(address, sharesPort: sharesPort, on: loop) { descriptor, kind, peer in
        let loop = sharesPort ? loop : core.group.nextLoop()
        loop.execute { core.accept(descriptor, kind, peer: peer, on: loop) }
      } changed: { error in
        if let error {
          core.log.exhaustion.log(["address": "\(address)", "reason": "\(error)"], on: loop)
        } else {
          core.options.logger.log(.info, "accepting connections again", ["address": "\(address)"])
        }
      }
    } catch {
      if error == .cannotSharePort { throw .cannotSharePort }
      if let path = address.pathOfOtherFile { throw .notASocket(path) }
      throw error.status("cannot listen on \(address)")
    }
  }

  /// How long after its grace a shutdown has not ended by an accident, and what a clock can wait for.
  private static let lateness = Duration.seconds(1)
  private static let longestGrace = Duration.seconds(100 * 365 * 86400)

  /// Stops accepting calls, lets those in progress finish within `grace`, and then closes the connections. Calls that have
  /// not ended by then fail with `UNAVAILABLE`, and the log has a warning with their number and their methods. Unless
  /// `grace` is zero or less, clients get up to a second more to read the last responses, so that the process may end when this
  /// returns. Another server may then listen on the same address.
  public func shutDown(grace: Duration = .seconds(30)) async {
    if grace < .zero {
      core.options.logger.log(.warning, "the grace of a shutdown is \(grace.readable): it counts as zero")
    }
    core.beginDraining()
    let core = core
    let loop = core.group.nextLoop()
    let deadline = Task(executorPreference: loop) {
      try await loop.sleep(for: grace)
      core.closeAll()
    }
    // Not on a loop, which may be what does not go on.
    let late = Task.detached {
      try await Task.sleep(for: min(max(grace, .zero), Self.longestGrace) + Self.lateness)
      core.shutdownIsLate(grace)
    }
    await core.waitUntilEmpty()
    deadline.cancel()
    late.cancel()
    core.cutOff.report(to: core.options.logger, grace: grace)
    if grace > .zero { await core.waitForGracefulCloses() }
    core.log.writeRest()
  }
}

extension GRPCStatus {
  static let cannotSharePort = GRPCStatus(
    code: .unimplemented,
    message: "reusePort: this system cannot spread the connections of a port over several listeners",
    origin: .library
  )
  static let notBound = GRPCStatus(
    code: .failedPrecondition,
    message: "the server listens nowhere: call server.bind(host:port:) before server.run()"
  )
  static let wasShutDown = GRPCStatus(
    code: .failedPrecondition,
    message: "the server was shut down: make another one, call bind(host:port:), and then run()"
  )
  static let loopEnded = GRPCStatus(
    code: .failedPrecondition,
    message: "the group of event loops was shut down",
    origin: .user
  )
}
