import CallTestSupport
import ServerTestSupport
import SwitchboardCall
import SwitchboardCallObjects
import Testing

@testable import SwitchboardNetwork
@testable import SwitchboardTransport

/// Metadata under names that the protocol sets itself is left out, and the log says so.
@Suite(.timeLimit(.minutes(5))) struct LeftOutMistakeTests {
  private static let get = MethodDescriptor(service: "s", method: "Get", type: .unary)

  private struct Setter: CallHandlerProvider {
    let serviceName = "s"
    let metadata: HPACKHeaders
    var methodHandlers: [MethodHandler] {
      [
        LeftOutMistakeTests.get.bytes.unaryHandler { request, context in
          context.setInitialMetadata(metadata)
          context.setTrailers(metadata)
          return request
        }
      ]
    }
  }

  private struct Pusher: CallHandlerProvider {
    let serviceName = "s"
    var methodHandlers: [MethodHandler] {
      [
        LeftOutMistakeTests.get.bytes.unaryHandler { _, context in
          context.setTrailers(["grpc-retry-pushback-ms": "7"])
          throw GRPCStatus(code: .unavailable)
        }
      ]
    }
  }

  private func call(
    _ wire: Wire,
    client: HPACKHeaders = [:],
    server: HPACKHeaders = [:]
  ) async throws -> (client: [LogEntries.Entry], server: [LogEntries.Entry]) {
    let (clients, servers) = (LogEntries(), LogEntries())
    var (options, channelOptions) = (ServerOptions(), ChannelOptions())
    options.logger = Logger(servers, minimumLevel: .warning)
    channelOptions.logger = Logger(clients, minimumLevel: .warning)
    let provider = Setter(metadata: server)
    try await withServer([provider], options: options) { _, address async throws in
      let channel =
        wire == .inProcess
        ? try Channel(inProcess: [provider], options: options, channelOptions: channelOptions)
        : try Channel(target: "\(address)", options: channelOptions)
      for _ in 0..<3 {
        let options = CallOptions(initialMetadata: client)
        _ = try await channel.call(Self.get, options: options).makeUnaryCall([1]).trailingMetadata
      }
      await channel.shutDown(grace: .zero)
    }
    return (clients.all, servers.all)
  }

  /// A program may pass on names that a peer has chosen: no more than 64 are remembered, and of each no more is shown.
  @Test func namesFromPeersNeitherFillTheLogNorTheMemory() throws {
    let entries = LogEntries()
    let fields = LeftOutFields(Logger(entries, minimumLevel: .warning))
    for number in 0..<1000 {
      var metadata = HPACKHeaders()
      metadata.add(name: "grpc-\(number)-" + String(repeating: "x", count: 10_000), value: "v")
      fields.report(metadata, of: Self.get)
    }
    #expect(entries.all.count == 64)
    #expect(entries.all.allSatisfy { $0.metadata["name"]?.utf8.count ?? 0 <= 110 })
  }

  @Test(arguments: [Wire.ipv4, .inProcess]) func eachNameOfACallIsReportedOnce(_ wire: Wire) async throws {
    let metadata: HPACKHeaders = [
      "te": "gzip", "content-type": "x/y", ":path": "/s/Other", "grpc-timeout": "1S", "host": "h", "own": "1",
    ]
    let entries = try await call(wire, client: metadata)
    #expect(entries.server.isEmpty)
    #expect(
      entries.client.map { $0.metadata["name"] } == ["te", "content-type", ":path", "grpc-timeout", "host"]
    )
    #expect(entries.client.allSatisfy { $0.level == .warning && $0.metadata["method"] == "/s/Get" })
    #expect(entries.client.map { $0.metadata["hint"] }.last == "set CallOptions.serverAuthority")
  }

  @Test(arguments: [Wire.ipv4, .inProcess]) func eachNameOfAResponseIsReportedOnce(_ wire: Wire) async throws
  {
    let entries = try await call(wire, server: [":status": "404", "grpc-status": "5", "own": "1"])
    #expect(entries.client.isEmpty)
    #expect(entries.server.map { $0.metadata["name"] } == [":status", "grpc-status"])
    #expect(entries.server.last?.metadata["hint"] == "let the handler throw a GRPCStatus")
  }

  /// Clients look for it in trailers, so that a call would be repeated at the client's own pace.
  @Test(arguments: [Wire.ipv4, .inProcess]) func aPushbackInInitialMetadataIsReported(_ wire: Wire)
    async throws
  {
    let entries = try await call(wire, client: [:], server: ["grpc-retry-pushback-ms": "7"])
    #expect(entries.server.map(\.message) == ["metadata was left out, because it counts in trailers only"])
    #expect(
      entries.server.first?.metadata["hint"] == "let the handler call setTrailers, and throw a GRPCStatus"
    )
    #expect(entries.client.isEmpty)
  }

  @Test(arguments: [Wire.ipv4, .inProcess]) func aPushbackInTrailersIsSent(_ wire: Wire) async throws {
    let entries = LogEntries()
    var options = ServerOptions()
    options.logger = Logger(entries, minimumLevel: .warning)
    try await withChannel(to: [Pusher()], over: wire, options: options) { channel async throws in
      let trailers = try await channel.call(Self.get).makeUnaryCall([1]).trailingMetadata
      #expect(trailers.first(name: "grpc-retry-pushback-ms") == "7")
    }
    #expect(entries.all.isEmpty)
  }

  /// A proxy passes on what it has received.
  @Test(arguments: [Wire.ipv4, .inProcess]) func whatArrivedWithAnotherCallIsNoMistake(_ wire: Wire)
    async throws
  {
    try await TestPair.with(wire) { pair async throws in
      let first = pair.channel.call(TestService.get).makeUnaryCall([1])
      for var metadata in [try await first.initialMetadata, try await first.trailingMetadata] {
        #expect(metadata.contains(name: "content-type") || metadata.contains(name: "grpc-status"))
        metadata.remove(name: "nothing")
        metadata.add(name: "more", value: "1")
        var all: HPACKHeaders = ["own": "1"]
        all.add(contentsOf: metadata)
        for metadata in [metadata, all] {
          let entries = try await call(wire, client: metadata, server: metadata)
          #expect(entries.client.isEmpty && entries.server.isEmpty)
        }
      }
    }
  }
}
