import Glibc
import HTTP2TestSupport
import Switchboard
import SwitchboardCall
import TestSupport
import Testing

@testable import SwitchboardNetwork
@testable import SwitchboardTelemetry
@testable import SwitchboardTransport

/// Why connections end, as gRFC A94 names it, for channels whose server is scripted.
@Suite(.mayBlock, .timeLimit(.minutes(5))) struct DisconnectTests {
  /// The label of a usable connection that `end` ends.
  private func label(
    _ options: ChannelOptions = ChannelOptions(),
    _ end: (inout FramePeer?, HTTP2ClientTransport) async throws -> Void
  ) async throws -> String {
    let telemetry = try Telemetry.capturing(CapturingExporter()) {
      $0.metrics.optionalLabels = ["grpc.disconnect_error"]
    }
    var options = options
    options.observer = telemetry.observer()
    let listener = try FrameListener()
    let channel = try Channel(target: listener.target, options: options, group: try LoopGroup())
    let transport = try #require(channel.transport as? HTTP2ClientTransport)
    transport.connect()
    var peer: FramePeer? = listener.accept()
    #expect(peer?.settle() == true)
    try await end(&peer, transport)
    let name = "grpc_subchannel_disconnections_total"
    while !Task.isCancelled, telemetry.lines(name).isEmpty { await Task.yield() }
    let line = try #require(telemetry.lines(name).first)
    await channel.shutDown(grace: .zero)
    await telemetry.shutDown()
    let parts = line.split(separator: "grpc_disconnect_error=\"", maxSplits: 1)
    return parts.last.map { String($0.prefix { $0 != "\"" }) } ?? ""
  }

  @Test func aResetByTheServerIsNamed() async throws {
    let label = try await label { peer, _ in
      peer?.raw.resetsAtEnd()
      peer = nil
    }
    #expect(label == "connection reset")
  }

  @Test func aCloseWithoutGoAwayIsUnknown() async throws {
    #expect(try await label { peer, _ in peer = nil } == "unknown")
  }

  @Test func anUnansweredPingIsATimeout() async throws {
    var options = ChannelOptions()
    options.keepaliveInterval = .seconds(10)
    options.keepaliveTimeout = .seconds(20)
    options.keepaliveWithoutCalls = true
    let label = try await label(options) { peer, transport in
      await transport.loop.advance(by: .seconds(11))
      #expect(peer?.next(FramePeer.Kind.ping)?.flags == 0)
      await transport.loop.advance(by: .seconds(21))
    }
    #expect(label == "connection timed out")
  }

  /// What a loopback connection does not do by itself.
  @Test(arguments: [
    (ETIMEDOUT, "connection timed out"), (ECONNABORTED, "connection aborted"),
    (ECONNRESET, "connection reset"), (EHOSTUNREACH, "socket error"),
  ])
  func systemErrorsAreNamed(_ code: Int32, _ expected: String) async throws {
    let label = try await label { _, transport in
      await transport.loop.onLoop {
        transport.connections.first?.socketDidEnd(SocketError(errno: code))
      }
    }
    #expect(label == expected)
  }

  /// A code that the server sent counts even if the connection then breaks.
  @Test(arguments: [
    (UInt32(2), "GOAWAY INTERNAL_ERROR"), (11, "GOAWAY ENHANCE_YOUR_CALM"), (200, "GOAWAY UNKNOWN"),
  ])
  func aServerThatSaysWhy(_ code: UInt32, _ expected: String) async throws {
    let label = try await label { peer, _ in
      peer?.send(FramePeer.Kind.goAway, 0, 0, FramePeer.number(0) + FramePeer.number(code))
      peer?.raw.resetsAtEnd()
      // The client closes the connection, which has no calls.
      #expect(peer?.raw.readToEnd() == true)
      peer = nil
    }
    #expect(label == expected)
  }

  @Test func aShutdownOfTheChannelIsNamed() async throws {
    let label = try await label { _, transport in await transport.shutDown(grace: .zero) }
    #expect(label == "subchannel shutdown")
  }
}
