import Switchboard

/// The address on which a server of the command listens.
enum ListeningAddress {
  static func parse(_ text: String, _ flag: Flag) throws(Failure) -> (host: String, port: Int) {
    guard let colon = text.lastIndex(of: ":"), let port = Int(text[text.index(after: colon)...]),
      (0...65535).contains(port)
    else { throw .usage("\(flag.name) needs HOST:PORT, such as 127.0.0.1:50051, not '\(text)'") }
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
      let message = error.message ?? "\(error)"
      let isTaken = message.contains("address already in use")
      throw Failure(
        ShownText(message),
        hints: isTaken ? ["'\(flag.name) \(listener.host):0' takes a free port."] : [],
        code: error.code == .invalidArgument ? .usage : .status(error.code)
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
