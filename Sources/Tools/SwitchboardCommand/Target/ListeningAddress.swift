import Switchboard

/// The address on which a server of the command listens.
enum ListeningAddress {
  static func parse(_ text: String, _ flag: Flag) throws(Failure) -> (host: String, port: Int) {
    guard let colon = text.lastIndex(of: ":"), let port = Int(text[text.index(after: colon)...]) else {
      throw .usage("\(flag.name) needs HOST:PORT, such as 127.0.0.1:50051, not '\(text)'")
    }
    let host = text[..<colon]
    return (
      host.hasPrefix("[") && host.hasSuffix("]") ? String(host.dropFirst().dropLast()) : String(host), port
    )
  }

  /// Makes a server listen at the address that a flag names.
  static func bind(_ server: Server, _ listener: (host: String, port: Int), _ flag: Flag) throws(Failure)
    -> SocketAddress
  {
    do {
      return try server.bind(host: listener.host, port: listener.port)
    } catch {
      guard error.code != .invalidArgument else { throw mistake(listener, flag) }
      let message = error.message ?? "\(error)"
      let isTaken = message.contains("address already in use")
      throw Failure(
        ShownText(message),
        hints: isTaken ? ["'\(flag.name) \(listener.host):0' takes a free port."] : [],
        code: .status(error.code)
      )
    }
  }

  /// The failure for an address that is none.
  private static func mistake(_ listener: (host: String, port: Int), _ flag: Flag) -> Failure {
    let (host, port) = listener
    let text = "\(flag.name) \(host):\(port)"
    switch ListenMistake(host, port) {
    case .all:
      return Failure(
        "\(text) has no address before its port",
        hints: [
          "'\(flag.name) 127.0.0.1:\(port)' is for this machine, '\(flag.name) 0.0.0.0:\(port)' for all addresses of the "
            + "machine, and '\(flag.name) [::]:\(port)' for those of IPv6."
        ],
        code: .usage
      )
    case .joined(let host, let port):
      let address = host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
      return Failure("\(text) is not HOST:PORT", hints: ["Write '\(flag.name) \(address)'."], code: .usage)
    case .path:
      return Failure("\(text) is the path of a socket, and not HOST:PORT", code: .usage)
    case .port: return Failure("\(text): the port must be 0 to 65535", code: .usage)
    case .name:
      return Failure(
        "\(text): \(host) is not an address, and names are not looked up",
        hints: ["Write localhost, the address of an interface, or 0.0.0.0 for all of them."],
        code: .usage
      )
    }
  }
}

extension Interrupts {
  /// Returns when the user asks the process to end. A second signal ends it at once. `ready` runs once the signals are
  /// being watched.
  static func first(_ ready: () throws -> Void) async throws {
    let (signals, continuation) = AsyncStream<Void>.makeStream()
    let interrupts = await Interrupts { continuation.finish() }
    try ready()
    for await _ in signals {}
    withExtendedLifetime(interrupts) {}
  }
}
