import CallTestSupport
import ServerTestSupport
import SwitchboardCall
import SwitchboardNetwork
import SwitchboardTransport
import Testing

/// Something that is too large says whose limit it exceeds, and which option sets it.
@Suite(.timeLimit(.minutes(5))) struct OversizeMistakeTests {
  private static let large = [UInt8](repeating: 7, count: 101)
  private static let wires: [(Wire, CallProtocol)] = [
    (.ipv4, .grpc), (.inProcess, .grpc), (.ipv4, .connect), (.ipv4, .grpcWeb),
  ]

  private func message(
    _ wire: (Wire, CallProtocol),
    _ change: (inout ServerOptions, inout ChannelOptions) -> Void,
    call options: CallOptions? = nil,
    _ compression: MessageCompression = .none
  ) async throws -> String? {
    var (server, channel) = (WireProtocolTests.server, ChannelOptions())
    channel.wireProtocol = wire.1
    change(&server, &channel)
    var message: String?
    try await TestPair.with(wire.0, server: server, channel: channel) { pair async throws in
      let status = await status {
        _ = try await pair.get(TestService.get, Self.large, options: options)
      }
      #expect(status?.code == .resourceExhausted)
      message = status?.message
    }
    return message
  }

  /// A message of Connect is a body, of which more may follow.
  private func size(_ wire: (Wire, CallProtocol)) -> String {
    if case .connect = wire.1 { "at least 101" } else { "101" }
  }

  @Test(arguments: wires) func aRequestAboveTheServersLimit(_ wire: (Wire, CallProtocol)) async throws {
    let message = try await message(wire) { server, _ in server.maxRequestSize = 100 }
    #expect(
      message
        == "a request of \(size(wire)) bytes is larger than the server's limit (ServerOptions.maxRequestSize): 100 bytes"
    )
  }

  @Test(arguments: wires) func aResponseAboveTheChannelsLimit(_ wire: (Wire, CallProtocol)) async throws {
    let message = try await message(wire) { _, channel in channel.responseSizeLimit = 100 }
    #expect(
      message
        == "a response of \(size(wire)) bytes is larger than the client's limit (ChannelOptions.responseSizeLimit): 100 bytes"
    )
  }

  @Test(arguments: wires) func aResponseAboveTheCallsLimit(_ wire: (Wire, CallProtocol)) async throws {
    let message = try await message(wire, { _, _ in }, call: CallOptions(responseSizeLimit: 100))
    #expect(message?.contains("the client's limit (CallOptions.responseSizeLimit") == true)
  }

  @Test func aRequestThatDecompressesToMore() async throws {
    let options = CallOptions(compression: .gzip)
    let message = try await message(
      (.ipv4, .grpc),
      { server, _ in server.maxRequestSize = 100 },
      call: options
    )
    #expect(
      message
        == "a compressed request holds more than the server's limit (ServerOptions.maxRequestSize): 100 bytes"
    )
  }

  @Test(arguments: [Wire.ipv4, .inProcess]) func metadataAboveTheServersLimit(_ wire: Wire) async throws {
    let options = CallOptions(initialMetadata: ["one": String(repeating: "a", count: 20_000)])
    let message = try await message((wire, .grpc), { _, _ in }, call: options)
    #expect(message?.contains("maxMetadataSize") == true, "\(message ?? "")")
  }

  @Test func metadataAboveTheClientsLimit() async throws {
    var channel = ChannelOptions()
    channel.maxMetadataSize = 512
    try await TestPair.with(channel: channel) { pair async throws in
      let options = CallOptions(initialMetadata: ["one": String(repeating: "a", count: 600)])
      let status = await status { _ = try await pair.get(TestService.reflect, options: options) }
      #expect(status?.code == .resourceExhausted)
      #expect(
        status?.message?.contains("ChannelOptions.maxMetadataSize") == true,
        "\(status.debugDescription)"
      )
    }
  }
}
