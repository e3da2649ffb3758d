import CLibuv
import FaultSupport
import Foundation
import HTTP2TestSupport
import ServerTestSupport
import Switchboard
import SwitchboardNetwork
import SwitchboardTransport
import TestSupport
import Testing

/// Logs and output that nothing reads: no process crashes, no call blocks.
@Suite(.mayBlock, .timeLimit(.minutes(5))) struct LogTests {
  enum Sink: CaseIterable, Sendable {
    case fullDisk, closed, unreadPipe, brokenPipe

    /// The stream, and the objects that keep it in its state.
    func stream() throws -> (stream: ChildProcess.Stream, keeper: Keeper?) {
      switch self {
      case .fullDisk: return (.full, nil)
      case .closed: return (.closed, nil)
      case .unreadPipe:
        let pair = try SocketPair()
        let piece = [UInt8](repeating: 0, count: 4096)
        while send(pair.far, piece, piece.count, Int32(MSG_DONTWAIT)) > 0 {}
        return (.descriptor(pair.far), Keeper([pair.near, pair.far]))
      case .brokenPipe:
        let pair = try SocketPair()
        close(pair.near)
        return (.descriptor(pair.far), Keeper([pair.far]))
      }
    }
  }

  /// Closes descriptors when it is released.
  final class Keeper: Sendable {
    private let descriptors: [Int32]
    init(_ descriptors: [Int32]) { self.descriptors = descriptors }
    deinit { for descriptor in descriptors { close(descriptor) } }
  }

  @Test(arguments: Sink.allCases) func aServerThatCannotLogServes(_ sink: Sink) async throws {
    let (stream, keeper) = try sink.stream()
    let server = try InteropProcess.start(errors: stream)
    // Each causes a line or two in the log.
    let answered = (0..<50).count { _ in
      guard let peer = try? RawPeer(port: server.port) else { return false }
      peer.send(Array("this is not HTTP/2, and never will be\r\n\r\n".utf8))
      return peer.readToEnd()
    }
    #expect(answered == 50)
    let channel = try Channel(target: "127.0.0.1:\(server.port)")
    for kind in CallKind.allCases { #expect(await FaultCall(kind, on: channel).outcome() == .ok) }
    await channel.shutDown(grace: .zero)
    server.program.send(SIGTERM)
    #expect(server.program.exitCode() == 0)
    withExtendedLifetime(keeper) {}
  }

  /// Connections must not get the descriptor numbers of the standard streams.
  @Test func aServerWithoutStandardStreamsServes() async throws {
    let path = "/tmp/switchboard-fault-\(getpid()).sock"
    let server = try ChildProcess(
      Command.path(ofProduct: "Interop"),
      ["server", "--port=0", "--unix_socket=\(path)"],
      input: .closed,
      output: .closed,
      errors: .closed
    )
    let channel = try Channel(target: "unix:\(path)", options: .impatient)
    for kind in CallKind.allCases {
      #expect(await FaultCall(kind, on: channel).outcome(.patient) == .ok)
    }
    // If Dispatch starts first, it takes these descriptors before the program runs; that does no harm.
    for number in 0...2 {
      let path = "/proc/\(server.identifier)/fd/\(number)"
      let stream = try FileManager.default.destinationOfSymbolicLink(atPath: path)
      #expect(!stream.hasPrefix("socket:") && !stream.hasPrefix("pipe:"))
    }
    await channel.shutDown(grace: .zero)
    server.send(SIGTERM)
    #expect(server.exitCode() == 0)
  }

  /// If the requested output cannot be written, the exit code says so.
  @Test(arguments: [Sink.fullDisk, .brokenPipe], [["Interop", "client"], ["Echo", "client", "Hello"]])
  func aClientThatCannotPrintFails(_ sink: Sink, _ words: [String]) async throws {
    try await withServer([SmallEcho(), LingeringProvider(.none)]) { _, address async throws in
      let port = address.port
      let flags =
        words[0] == "Echo"
        ? ["--port", "\(port)"] : ["--server_port=\(port)", "--test_case=empty_unary"]
      let (stream, keeper) = try sink.stream()
      let client = try ChildProcess(
        Command.path(ofProduct: words[0]),
        Array(words.dropFirst()) + flags,
        output: stream,
        errors: .discarded
      )
      #expect(client.exitCode() == 1)
      withExtendedLifetime(keeper) {}
    }
  }

  /// The tools print an error if there is a reader.
  @Test(
    arguments: [Sink.fullDisk, .brokenPipe, .closed],
    ["switchboard", "switchboard-generate", "protoc-gen-switchboard"]
  )
  func aToolThatCannotPrintFails(_ sink: Sink, _ name: String) throws {
    let (stream, keeper) = try sink.stream()
    for errors in [ChildProcess.Stream.discarded, .full, .closed, stream] {
      let tool = try ChildProcess(
        Command.path(ofProduct: name),
        ["--version"],
        output: stream,
        errors: errors
      )
      // A closed stream means that the user does not want output.
      // The command of users tells a reader that went away from other failures.
      let failure: Int32 = name != "switchboard" ? 1 : sink == .brokenPipe ? 141 : 74
      #expect(tool.exitCode() == (sink == .closed ? 0 : failure))
    }
    withExtendedLifetime(keeper) {}
  }
}
