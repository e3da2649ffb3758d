import FaultSupport
import Foundation
import Switchboard
import TestSupport
import Testing

@testable import Interop

/// Kills a server's process at each stage of calls of all four kinds: each call ends once, with UNAVAILABLE, and the
/// channel works again when the server is back.
@Suite(.mayBlock, .timeLimit(.minutes(5))) struct ServerKilledTests {
  enum Stage: String, CaseIterable, Sendable {
    case handshake, tlsHandshake, afterHeaders, midRequest, beforeAnswer, afterMetadata, midResponse
    case beforeTrailers

    var gate: Gate {
      switch self {
      case .handshake, .tlsHandshake: Gate(direction: .toClient, point: .firstByte)
      case .afterHeaders: Gate(direction: .toServer, point: .frame(Gate.data, after: 0))
      case .midRequest: Gate(direction: .toServer, point: .frame(Gate.data, after: 1))
      case .beforeAnswer: Gate(direction: .toClient, point: .frame(Gate.headers, after: 0))
      case .afterMetadata: Gate(direction: .toClient, point: .frame(Gate.data, after: 0))
      case .midResponse: Gate(direction: .toClient, point: .frame(Gate.data, after: 1))
      case .beforeTrailers: Gate(direction: .toClient, point: .frame(Gate.headers, after: 1))
      }
    }

    /// The single response to a stream of requests is one small frame.
    var kinds: [CallKind] {
      self == .midResponse ? [.unary, .serverStream, .bidi] : CallKind.allCases
    }
  }

  /// One call with its own relay to the server.
  private struct Line: Sendable {
    let kind: CallKind
    let relay: Relay
    let channel: Channel
  }

  @Test(arguments: Stage.allCases) func callsEndWhenOurServerIsKilled(_ stage: Stage) async throws {
    try await kill(.ours, at: stage)
  }

  @Test(arguments: [Stage.afterHeaders, .afterMetadata, .beforeTrailers])
  func callsEndWhenGrpciosServerIsKilled(_ stage: Stage) async throws { try await kill(.grpcio, at: stage) }

  private func kill(_ make: InteropProcess.Make, at stage: Stage) async throws {
    let flags = stage == .tlsHandshake ? ["--use_tls"] : []
    let server = try InteropProcess.start(make, flags)
    let ledger = Ledger()
    let lines = try stage.kinds.map { kind in
      let relay = try Relay(to: server.port, gate: stage.gate)
      return Line(kind: kind, relay: relay, channel: try channel(to: relay, stage, ledger))
    }
    defer { for line in lines { line.relay.stop() } }
    let calls = lines.map { line in Task { await FaultCall(line.kind, on: line.channel).outcome() } }
    for line in lines { await line.relay.untilHeld() }
    server.kill()
    for (line, call) in zip(lines, calls) {
      #expect(await call.value.code == .unavailable, "\(line.kind)")
    }

    let next = try InteropProcess.start(make, flags)
    for line in lines {
      await line.relay.lead(to: next.port)
      await line.relay.heal()
      let again = FaultCall(line.kind, on: line.channel)
      #expect(await again.outcome(CallOptions.with { $0.waitForReady = true }) == .ok, "\(line.kind)")
      await line.channel.shutDown(grace: .zero)
    }
    let books = ledger.books
    #expect(books.isEven)
    #expect(books.ended == [.unavailable: lines.count, .ok: lines.count])
    next.kill()
  }

  private func channel(to relay: Relay, _ stage: Stage, _ ledger: Ledger) throws -> Channel {
    var options = ChannelOptions.impatient
    options.observer = ledger
    if stage == .tlsHandshake {
      options.security = .tls(
        ClientTLS(
          trustRoots: TestAuthority.certificate,
          serverNameOverride: TestAuthority.serverName
        )
      )
    }
    return try Channel(target: "127.0.0.1:\(relay.port)", options: options)
  }

  /// No server listens when the calls are made.
  @Test func callsFailWhenTheServerIsKilledBeforeTheyConnect() async throws {
    let server = try InteropProcess.startForRestart()
    server.kill()
    let ledger = Ledger()
    var options = ChannelOptions.impatient
    options.observer = ledger
    let channel = try Channel(target: "127.0.0.1:\(server.port)", options: options)
    for kind in CallKind.allCases {
      #expect(await FaultCall(kind, on: channel).outcome().code == .unavailable, "\(kind)")
    }
    let patient = CallKind.allCases.map { kind in
      Task { await FaultCall(kind, on: channel).outcome(CallOptions.with { $0.waitForReady = true }) }
    }
    let next = try InteropProcess.start(port: server.port)
    for call in patient { #expect(await call.value == .ok) }
    await channel.shutDown(grace: .zero)
    #expect(ledger.books.isEven)
    #expect(ledger.books.ended == [.unavailable: 4, .ok: 4])
    next.kill()
  }
}

extension ChannelOptions {
  /// Reconnects after a short backoff.
  static var impatient: ChannelOptions {
    var options = ChannelOptions()
    options.connectInitialBackoff = .milliseconds(10)
    options.connectMaxBackoff = .milliseconds(50)
    return options
  }
}
