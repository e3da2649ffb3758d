import Foundation
import Switchboard

/// A server whose port stays the same across restarts.
actor SoakServer {
  private let ledger: SoakLedger
  private let held: HeldObjects
  private let isSecure: Bool
  private var server: Server
  nonisolated let port: Int

  init(ledger: SoakLedger, held: HeldObjects, isSecure: Bool) throws {
    self.ledger = ledger
    self.held = held
    self.isSecure = isSecure
    server = try Self.make(ledger, held, isSecure)
    port = try Self.port(of: server.bind(host: "127.0.0.1", port: 0))
  }

  private static func make(_ ledger: SoakLedger, _ held: HeldObjects, _ isSecure: Bool) throws -> Server {
    var options = ServerOptions()
    options.observer = ledger
    if isSecure { options.tls = ServerTLS(credentials: BenchTLS.credentials) }
    return held.watch(
      try Server(providers: [SoakProvider()], options: options, group: held.watchedGroup())
    )
  }

  private static func port(of address: SocketAddress) throws -> Int {
    guard let port = "\(address)".split(separator: ":").last.flatMap({ Int($0) }) else {
      throw GRPCStatus(code: .internalError, message: "\(address) has no port")
    }
    return port
  }

  /// Shuts down the server with this grace period, and starts another on the same port.
  func restart(grace: Duration) async throws {
    await server.shutDown(grace: grace)
    server = try Self.make(ledger, held, isSecure)
    // The old listener closes on its own loop, perhaps a moment later.
    for _ in 0..<500 {
      if (try? server.bind(host: "127.0.0.1", port: port)) != nil { return }
      try await Task.sleep(for: .milliseconds(10))
    }
    throw GRPCStatus(code: .internalError, message: "cannot bind port \(port) again")
  }

  func stop() async { await server.shutDown(grace: .seconds(10)) }

  /// Cuts the connections of its clients, as a network failure would. Returns their number.
  nonisolated func cutConnections() -> Int {
    let descriptors = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
    return descriptors.compactMap { Int32($0) }.filter { Self.peerPort(of: $0) == port }
      .filter { shutdown($0, Int32(SHUT_RDWR)) == 0 }.count
  }

  private static func peerPort(of descriptor: Int32) -> Int? {
    var address = sockaddr_in()
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let result = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getpeername(descriptor, $0, &length) }
    }
    guard result == 0, Int32(address.sin_family) == AF_INET else { return nil }
    return Int(UInt16(bigEndian: address.sin_port))
  }
}
