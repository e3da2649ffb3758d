import ConnectConformanceService
import Glibc
import Switchboard
import SwitchboardProtobuf
import SwitchboardToolSupport

/// The program under test in Connect's conformance suite: `ConnectTestee server` serves until it is ended, and
/// `ConnectTestee client` makes the calls that it reads from standard input. Messages on both streams have a length prefix
/// of four bytes, big-endian.
@main struct ConnectTestee {
  static func main() async throws {
    signal(SIGPIPE, SIG_IGN)
    switch CommandLine.arguments.dropFirst().first {
    case "server":
      guard let request: Connectrpc_Conformance_V1_ServerCompatRequest = try readMessage() else { return }
      let (server, response) = try TesteeServer.start(request)
      try await server.run { try? writeMessage(response) }
    case "client":
      try await makeCalls()
    default:
      complain("use: ConnectTestee server | client")
      exit(64)
    }
  }

  private static let callLimit = 16

  /// Makes several calls at the same time. Reads on the main thread, which nothing else needs.
  private static func makeCalls() async throws {
    let loops = try LoopGroup()
    try await withThrowingTaskGroup(of: Void.self) { group in
      var started = 0
      while let request: Connectrpc_Conformance_V1_ClientCompatRequest = try readMessage() {
        started += 1
        if started > callLimit { try await group.next() }
        group.addTask { try writeMessage(await TesteeClient.respond(to: request, on: loops)) }
      }
      try await group.waitForAll()
    }
  }

  /// `nil` if the runner has closed its end.
  private static func readMessage<Message: SwitchboardProtobuf.Message>() throws -> Message? {
    let length = try Descriptor.standardInput.readBytes(4)
    guard length.count == 4 else { return nil }
    let count = length.reduce(0) { $0 << 8 | Int($1) }
    return try Message(serializedBytes: Descriptor.standardInput.readBytes(count))
  }

  /// Writes a message in one piece, since several calls may end at the same time.
  private static func writeMessage(_ message: some SwitchboardProtobuf.Message) throws {
    let bytes: [UInt8] = try message.serializedBytes()
    let count = UInt32(clamping: bytes.count)
    let length = (0..<4).map { UInt8(truncatingIfNeeded: count >> (24 - 8 * $0)) }
    try output.withLock { try $0.writeAll(length + bytes) }
  }

  private static let output = Locked(Descriptor.standardOutput)
}
