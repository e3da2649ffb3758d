import EchoService
import Foundation
import ServerTestSupport
import Switchboard
import SwitchboardServices
import TestSupport
import Testing

@testable import SwitchboardCommand

/// Arguments that mean nothing, places where nothing can be written, and a process that tells of endless others.
@Suite(.mayBlock, .timeLimit(.minutes(5))) struct HostileUseTests {
  @Test(arguments: [
    ["load", "localhost:1", "a/B", "-z", "0"], ["load", "localhost:1", "a/B", "--deadline", "0"],
    ["load", "localhost:1", "a/B", "--find-max", "p99<1ms", "--step", "0s"],
    ["call", "localhost:1", "a/B", "--authority", "a\nb"], ["call", "localhost:1", "a/B", "--authority", ""],
    ["call", "localhost:1", "a/B", "--user-agent", "a\u{1B}b"],
    ["load", "localhost:1", "a/B", "--save", "/nowhere/"],
    ["mock", "--record", "localhost:1", "--output", "there/", "--listen", "127.0.0.1:0"],
    ["mock", "--record", "localhost:1", "--output", "/usr", "--overwrite", "--listen", "127.0.0.1:0"],
    ["mock", "--record", "localhost:1", "--output", "/usr/", "--listen", "127.0.0.1:0"],
  ]) func invalidArgumentsAreReportedAtOnce(_ words: [String]) throws {
    let run = try Command.product("switchboard", words)
    #expect(run.exitCode == 64, "\(run.errors)")
    #expect(!run.errors.contains("UNAVAILABLE"))
  }

  @Test func aReportThatCannotBeSavedFailsBeforeTheRun() throws {
    let run = try Command.product("switchboard", ["load", "localhost:1", "a/B", "--save", "/nowhere/a.json"])
    #expect(run.exitCode == 74)
    #expect(run.errors.contains("/nowhere"))
  }

  @Test func invalidTerminalSizesAreIgnored() throws {
    for (columns, rows) in [("9223372036854775807", "-9223372036854775808"), ("0", "x"), ("-1", "")] {
      // Not by `setenv`: another test may start a process at that moment, and the system may then read freed memory.
      let terminal = Terminal.current(.input) { $0 == "COLUMNS" ? columns : $0 == "LINES" ? rows : nil }
      #expect((1...10_000).contains(terminal.columns) && (1...10_000).contains(terminal.rows))
    }
  }

  /// A reader that is slower than the command, at a pipe which does not wait.
  @Test func outputWaitsForItsReader() throws {
    let script = """
      import fcntl, os, subprocess, sys, time
      reading, writing = os.pipe()
      os.set_blocking(writing, False)
      fcntl.fcntl(writing, 1031, 4096)
      child = subprocess.Popen(sys.argv[1:], stdout=writing, stderr=subprocess.PIPE)
      os.close(writing)
      time.sleep(0.3)
      output = b""
      while chunk := os.read(reading, 65536):
          output += chunk
      print(child.wait(), len(output) > 20000, child.stderr.read().decode())
      """
    let run = try Command.run(
      TestFolders.python,
      ["-c", script, Command.path(ofProduct: "switchboard"), "man"]
    )
    #expect(String(decoding: run.output, as: UTF8.self) == "0 True \n")
  }

  /// Each channel refers to very many others, which exist only if they are asked for.
  private struct Endless: Grpc_Channelz_V1_ChannelzProvider {
    var interceptors: Interceptors? { nil }

    let questions: Questions
    let exist: Bool

    private func refs(_ first: Int64) -> [Grpc_Channelz_V1_ChannelRef] {
      (0..<20).map { number in .with { $0.channelID = first &* 600 &+ Int64(number) &+ 1 } }
    }

    func getTopChannels(
      request: Grpc_Channelz_V1_GetTopChannelsRequest,
      context: ServerCallContext
    ) async throws -> Grpc_Channelz_V1_GetTopChannelsResponse {
      .with {
        $0.channel = (0..<520).map { number in
          .with {
            $0.ref.channelID = Int64(number)
            $0.channelRef = refs(Int64(number))
          }
        }
      }
    }

    func getServers(
      request: Grpc_Channelz_V1_GetServersRequest,
      context: ServerCallContext
    ) async throws -> Grpc_Channelz_V1_GetServersResponse { Grpc_Channelz_V1_GetServersResponse() }

    func getServer(
      request: Grpc_Channelz_V1_GetServerRequest,
      context: ServerCallContext
    ) async throws -> Grpc_Channelz_V1_GetServerResponse { throw GRPCStatus(code: .notFound) }

    func getServerSockets(
      request: Grpc_Channelz_V1_GetServerSocketsRequest,
      context: ServerCallContext
    ) async throws -> Grpc_Channelz_V1_GetServerSocketsResponse { throw GRPCStatus(code: .notFound) }

    func getChannel(
      request: Grpc_Channelz_V1_GetChannelRequest,
      context: ServerCallContext
    ) async throws -> Grpc_Channelz_V1_GetChannelResponse {
      questions.count.withLock { $0 += 1 }
      guard exist else { throw GRPCStatus(code: .notFound) }
      return .with {
        $0.channel.ref.channelID = request.channelID
        $0.channel.channelRef = refs(request.channelID)
      }
    }

    func getSubchannel(
      request: Grpc_Channelz_V1_GetSubchannelRequest,
      context: ServerCallContext
    ) async throws -> Grpc_Channelz_V1_GetSubchannelResponse { throw GRPCStatus(code: .notFound) }

    func getSocket(
      request: Grpc_Channelz_V1_GetSocketRequest,
      context: ServerCallContext
    ) async throws -> Grpc_Channelz_V1_GetSocketResponse { throw GRPCStatus(code: .notFound) }
  }

  @Test(arguments: [true, false]) func endlessChannelListsAreCutShort(_ exist: Bool) async throws {
    let questions = Questions()
    try await withServer([Endless(questions: questions, exist: exist)]) { _, address async throws in
      let target = "\(address)"
      let run = try Command.product("switchboard", ["channelz", target])
      #expect(run.exitCode == 0, "\(run.errors)")
      #expect(questions.count.withLock { $0 } <= 3000)
    }
  }
}
