import CertificateSupport
import FaultSupport
import Foundation
import Interop
import InteropService
import ServerTestSupport
import Switchboard
import TestSupport
import Testing

/// Kills a client's process at each stage of calls of all four kinds: the server's handlers are cancelled, nothing
/// stays open, and other clients are still served.
@Suite(.mayBlock, .timeLimit(.minutes(5))) struct ClientKilledTests {
  enum Stage: String, CaseIterable, Sendable {
    case handshake, tlsHandshake, afterHeaders, midRequest, beforeAnswer, afterMetadata, midResponse

    /// The point at which the client's output is held back.
    var gate: Gate? {
      switch self {
      case .handshake, .tlsHandshake: Gate(direction: .toServer, point: .firstByte)
      case .afterHeaders: Gate(direction: .toServer, point: .frame(Gate.data, after: 0))
      case .midRequest: Gate(direction: .toServer, point: .frame(Gate.data, after: 1))
      case .beforeAnswer, .afterMetadata, .midResponse: nil
      }
    }

    /// The point at which handlers block, if that is the stage.
    var point: LingeringProvider.Point {
      switch self {
      case .handshake, .tlsHandshake, .afterHeaders, .midRequest: .none
      case .beforeAnswer: .beforeAnswer
      case .afterMetadata: .afterMetadata
      case .midResponse: .afterFirstResponse
      }
    }

    /// Only response streams have a middle.
    var kinds: [CallKind] { self == .midResponse ? [.serverStream, .bidi] : CallKind.allCases }

    /// The number of calls that the server knows of. The handler of a single request starts when that is complete.
    var calls: Int {
      switch self {
      case .handshake, .tlsHandshake: 0
      default: kinds.count
      }
    }
  }

  @Test(arguments: Stage.allCases) func theServerCancelsItsHandlers(_ stage: Stage) async throws {
    let (provider, ledger) = (LingeringProvider(stage.point), Ledger())
    var options = ServerOptions()
    options.observer = ledger
    if stage == .tlsHandshake { options.tls = ServerTLS(credentials: TestCertificates.server) }
    try await withServer([provider], options: options) { server, address async throws in
      // Another client, which stays connected.
      try await withChannel(to: "\(address)", options: Self.neighbor(stage)) { channel async throws in
        let other = Grpc_Testing_TestServiceClient(channel: channel)
        try await killClients(stage, provider, ledger, server, address.port, besides: other)
      }
    }
  }

  private func killClients(
    _ stage: Stage,
    _ provider: LingeringProvider,
    _ ledger: Ledger,
    _ server: Server,
    _ port: Int,
    besides other: Grpc_Testing_TestServiceClient
  ) async throws {
    let relay = try Relay(to: port, gate: stage.gate)
    defer { relay.stop() }
    _ = try await other.emptyCall(Grpc_Testing_Empty())
    let security = stage == .tlsHandshake ? "tls" : "plaintext"
    let clients = try stage.kinds.map { kind in
      let words = ["call", kind.rawValue, "127.0.0.1:\(relay.port)", security]
      return try ChildProcess.faultSubject(words)
    }
    if stage.gate != nil { await relay.untilHeld(clients.count) }
    await ledger.until { $0.started == stage.calls + 1 }
    if stage.point != .none { await provider.until { $0.lingering == stage.kinds.count } }
    for client in clients { client.end(with: SIGKILL) }

    let failures = stage.calls > 0 ? 0 : clients.count
    await ledger.until { $0.isEven && $0.connections == 1 && $0.failedConnections == failures }
    if stage.point != .none { await provider.until { $0.released == stage.kinds.count } }
    // The handlers that waited for the rest of a stream.
    if stage == .midRequest { await provider.until { $0.failedReads == 2 } }
    _ = try await other.emptyCall(Grpc_Testing_Empty())
    let books = ledger.books
    #expect(books.isEven)
    #expect(books.started == stage.calls + 2)
    #expect(books.ended[.ok] == 2)
    let snapshot = await server.snapshot()
    #expect(snapshot.connections.count == 1)
    #expect(snapshot.calls.started == snapshot.calls.succeeded + snapshot.calls.failed)
  }

  private static func neighbor(_ stage: Stage) -> ChannelOptions {
    var options = ChannelOptions()
    if stage == .tlsHandshake {
      options.security = .tls(ClientTLS(trustRoots: TestCertificates.authority))
    }
    return options
  }
}
