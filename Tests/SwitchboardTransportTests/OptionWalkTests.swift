import CallTestSupport
import ServerTestSupport
import SwitchboardBalancing
import TestSupport
import Testing

@testable import SwitchboardCall
@testable import SwitchboardNetwork
@testable import SwitchboardTransport

/// Each number and each duration among the options is tried at -1, 0, 1 and its maximum. Either it is refused with an
/// error that names it, its value and what is allowed, or calls work.
@Suite(.mayBlock, .serialized, .timeLimit(.minutes(5))) struct OptionWalkTests {
  private static let forever = Duration.seconds(Int64.max)

  private static var channelOptions: ChannelOptions {
    var options = ChannelOptions()
    // The initial backoff must not be above it.
    options.connectMaxBackoff = forever
    return options
  }

  /// A new option without a rule fails here.
  @Test func everyNumberHasARule() {
    #expect(OptionWalk.ruled(ServerOptions.self) == OptionWalk.numbers(in: ServerOptions()))
    #expect(OptionWalk.ruled(WebOptions.self) == OptionWalk.numbers(in: WebOptions()))
    #expect(OptionWalk.ruled(ChannelOptions.self) == OptionWalk.numbers(in: ChannelOptions()))
    #expect(OptionWalk.ruled(PoolOptions.self) == OptionWalk.numbers(in: PoolOptions()))
    // These are tried below.
    #expect(OptionWalk.numbers(in: CallOptions.Choices()) == ["timeout", "responseSizeLimit"])
    // There is none to be tried.
    let credentials = TLSCredentials(certificateChain: .bytes([]), privateKey: .bytes([]))
    #expect(OptionWalk.numbers(in: ServerTLS(credentials: credentials)).isEmpty)
    #expect(OptionWalk.numbers(in: ClientTLS()).isEmpty)
    #expect(OptionWalk.numbers(in: BalancingOptions()).isEmpty)
  }

  @Test(arguments: OptionWalk.samples(of: ServerOptions()))
  func aServersOptionIsRefusedOrWorks(_ sample: OptionSample<ServerOptions>) async throws {
    let refusal = refusal { () throws(GRPCStatus) in _ = try Server(providers: [], options: sample.options) }
    try await verify(sample, refusal, server: sample.options)
  }

  @Test(arguments: OptionWalk.samples(of: WebOptions()))
  func anOptionForTheWebIsRefusedOrWorks(_ sample: OptionSample<WebOptions>) async throws {
    var options = ServerOptions()
    options.web = sample.options
    let refusal = refusal { [options] () throws(GRPCStatus) in _ = try Server(providers: [], options: options)
    }
    try await verify(sample, refusal, server: options)
  }

  @Test(arguments: OptionWalk.samples(of: channelOptions))
  func aChannelsOptionIsRefusedOrWorks(_ sample: OptionSample<ChannelOptions>) async throws {
    let refusal = refusal { () throws(GRPCStatus) in
      _ = try Channel(target: "localhost:1", options: sample.options)
    }
    try await verify(sample, refusal, channel: sample.options)
  }

  private func refusal(_ make: () throws(GRPCStatus) -> Void) -> GRPCStatus? {
    do throws(GRPCStatus) {
      try make()
      return nil
    } catch { return error }
  }

  private func verify<Options>(
    _ sample: OptionSample<Options>,
    _ refusal: GRPCStatus?,
    server: ServerOptions = ServerOptions(),
    channel: ChannelOptions = ChannelOptions()
  ) async throws {
    guard refusal == nil else {
      #expect(sample.isRefused(by: refusal), "\(refusal?.description ?? "")")
      let inProcess = self.refusal { () throws(GRPCStatus) in
        _ = try Channel(inProcess: [], options: server, channelOptions: channel)
      }
      #expect(inProcess == refusal)
      return
    }
    let limit = min(300, server.maxRequestSize, channel.responseSizeLimit)
    let message = [UInt8](repeating: 7, count: limit)
    for wire in [Wire.ipv4, .inProcess] {
      try await TestPair.with(wire, server: server, channel: channel) { pair async throws in
        #expect(try await pair.get(TestService.get, message) == message)
        #expect(try await pair.update([message, message]).collected() == [message, message])
      }
    }
  }

  /// The least values of options of which 1 is refused.
  @Test func theLeastValuesWork() async throws {
    var server = ServerOptions()
    server.maxMetadataSize = ChannelOptions.leastMetadataSize
    server.controlFrameAllowance = ChannelOptions.leastAllowance
    var channel = ChannelOptions()
    channel.maxMetadataSize = ChannelOptions.leastMetadataSize
    channel.controlFrameAllowance = ChannelOptions.leastAllowance
    try await TestPair.with(server: server, channel: channel) { pair async throws in
      for size in [0, 100_000] {
        let message = [UInt8](repeating: 7, count: size)
        #expect(try await pair.get(TestService.get, message) == message)
        #expect(try await pair.update([message, message]).collected() == [message, message])
      }
    }
  }

  @Test func aCallsSizeLimitIsRefusedOrWorks() async throws {
    for wire in [Wire.ipv4, .inProcess] {
      try await TestPair.with(wire) { pair async throws in
        for limit in [0, -1, Int.min] {
          let status = await status { _ = try await pair.get(options: CallOptions(responseSizeLimit: limit)) }
          #expect(status?.code == .invalidArgument)
          let message = "responseSizeLimit is \(limit): it must be at least 1, because no message"
          #expect(status?.message?.hasPrefix(message) == true)
        }
        for limit in [1, .max] {
          let message = [UInt8](repeating: 7, count: min(300, limit))
          let options = CallOptions(responseSizeLimit: limit)
          #expect(try await pair.get(TestService.get, message, options: options) == message)
        }
      }
    }
  }

  @Test func aTimeoutThatIsOverEndsACall() async throws {
    for wire in [Wire.ipv4, .inProcess] {
      try await TestPair.with(wire) { pair async throws in
        let status = await status { _ = try await pair.get(options: CallOptions(timeout: .zero)) }
        #expect(status?.code == .deadlineExceeded)
        for timeout in [Duration.seconds(3600), Self.forever] {
          #expect(try await pair.get(options: CallOptions(timeout: timeout)) == [1, 2, 3])
        }
      }
    }
  }

  @Test(arguments: [-1, 0, 1025, .max]) func aGroupHasSomeLoops(_ count: Int) {
    let error = #expect(throws: GRPCStatus.self) { _ = try LoopGroup(count: count) }
    #expect(error?.code == .invalidArgument)
    #expect(error?.message?.hasPrefix("count is \(count): it must be from 1 to 1024") == true)
  }

  @Test func aPoolsIdleTimeoutIsRefusedOrWorks() async throws {
    for timeout in [Duration.seconds(-1), .zero] {
      let error = #expect(throws: GRPCStatus.self) { _ = try ChannelPool(idleTimeout: timeout) }
      let message = "idleTimeout is \(timeout): it must be more than 0.0 seconds, because"
      #expect(error?.message?.hasPrefix(message) == true)
    }
    for timeout in [Duration.seconds(1), Self.forever] {
      try await withPool(try ChannelPool(idleTimeout: timeout)) { pool async throws in
        try await TestPair.with { pair async throws in
          let options = CallOptions.with { $0.security = .plaintext }
          let channel = Channel(host: "\(pair.address)", options: options, pool: pool)
          #expect(try await Caller(channel: channel).get(options: options) == [1, 2, 3])
        }
      }
    }
  }
}
