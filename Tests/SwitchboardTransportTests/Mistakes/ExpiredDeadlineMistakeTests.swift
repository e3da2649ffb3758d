import CallTestSupport
import HTTP2TestSupport
import ServerTestSupport
import SwitchboardBalancing
import SwitchboardCall
import SwitchboardCallObjects
import TestSupport
import Testing

@testable import SwitchboardNetwork
@testable import SwitchboardTransport

/// A deadline that passes says how long the call had, whose choice that was, and what the call waited for.
@Suite(.mayBlock, .timeLimit(.minutes(5))) struct ExpiredDeadlineMistakeTests {
  private static let options = CallOptions(timeout: .seconds(600))

  /// The message of a call whose deadline passes once `isWaiting` holds.
  private func message(
    _ channel: Channel,
    _ options: CallOptions = options,
    _ method: MethodDescriptor = TestService.get,
    once isWaiting: @escaping @Sendable () -> Bool
  ) async throws -> String {
    let loop = try #require(channel.eventLoop as? Loop)
    let call = Task { try await Caller(channel: channel).get(method, options: options) }
    await loop.until(isWaiting)
    // All of these are less than connections wait.
    let end = await loop.advancing(by: .seconds(601), atMost: 100) {
      await status { _ = try await call.value }
    }
    #expect(end?.code == .deadlineExceeded)
    await channel.shutDown(grace: .zero)
    let message = try #require(end?.message)
    #expect(message.hasPrefix("deadline of 600 s (CallOptions.timeout) exceeded after "))
    return message
  }

  private func transport(_ channel: Channel) throws -> HTTP2ClientTransport {
    try #require(channel.transport as? HTTP2ClientTransport)
  }

  private var patient: ChannelOptions {
    var options = ChannelOptions()
    options.connectMinTimeout = .seconds(100_000)
    return options
  }

  @Test(arguments: [(false, "shop"), (true, "silent:///shop")]) func aNameThatIsNotResolved(
    _ findsServiceConfigs: Bool,
    _ name: String
  ) async throws {
    var options = ChannelOptions()
    options.security = .plaintext
    options.resolvers = [SilentResolver(findsServiceConfigs: findsServiceConfigs)]
    let channel = try Channel(target: "silent:///shop", options: options)
    let transport = try transport(channel)
    let message = try await message(channel) { transport.waiting.count > 0 || transport.awaitsConfig }
    #expect(message.hasSuffix(", while waiting for the name \(name) to be resolved"))
  }

  @Test func aServerThatSendsNoSettings() async throws {
    let listener = try FrameListener()
    let channel = try Channel(target: listener.target, options: patient)
    let transport = try transport(channel)
    let message = try await message(channel) {
      transport.subchannels.values.contains { $0.dialing?.connection != nil }
    }
    #expect(
      message.hasSuffix(
        "a connection to \(listener.target) (connected, waiting for the server's HTTP/2 settings)"
      )
    )
  }

  @Test func aServerThatSaysNothingOfTLS() async throws {
    let listener = try FrameListener()
    var options = patient
    options.security = .tls(ClientTLS())
    let channel = try Channel(target: listener.target, options: options)
    let transport = try transport(channel)
    let message = try await message(channel) {
      transport.subchannels.values.contains { $0.dialing?.connection != nil }
    }
    #expect(message.hasSuffix("(connected, waiting for the TLS handshake)"))
  }

  @Test func aPortWhereNothingListens() async throws {
    let target = try FrameListener().target
    var options = ChannelOptions()
    options.connectInitialBackoff = .seconds(100_000)
    options.connectMaxBackoff = .seconds(100_000)
    let channel = try Channel(target: target, options: options)
    let transport = try transport(channel)
    var call = Self.options
    call.waitForReady = true
    let message = try await message(channel, call) { transport.lastFailure != nil }
    #expect(message.contains(", while waiting for a connection to \(target) (trying again in "))
    #expect(message.contains("last error: cannot connect to \(target): connection refused)"))
  }

  @Test func aConnectionWithoutRoom() async throws {
    var server = ServerOptions()
    server.maxConcurrentStreams = 1
    var options = ChannelOptions()
    options.maxConnections = 1
    try await TestPair.with(server: server, channel: options) { pair async throws in
      let hanging = Task { try await pair.get(TestService.hang) }
      await pair.service.hanging.wait()
      let transport = try transport(pair.channel)
      let message = try await message(pair.channel) { transport.waiting.count > 0 }
      #expect(message.contains("while waiting for room on the connection to 127.0.0.1:"))
      #expect(message.contains("(open calls: 1, as many as "))
      hanging.cancel()
    }
  }

  @Test func aConnectionThatTakesNothing() async throws {
    let listener = try FrameListener()
    let channel = try Channel(target: listener.target, options: patient)
    let transport = try transport(channel)
    let largest: [UInt8] = [0x7f, 0xff, 0xff, 0xff]
    let large = [UInt8](repeating: 1, count: 64 << 20)
    let first = Task { await status { _ = try await Caller(channel: channel).get(TestService.get, large) } }
    // Lets the client send as much as it likes, and reads none of it.
    let peer = FramePeer(serving: listener.acceptRaw(), settings: [0, 4] + largest)
    peer.send(FramePeer.Kind.windowUpdate, 0, 0, [0x7f, 0, 0, 0])
    await transport.loop.until { transport.connections.contains { $0.socket.isWriting } }
    let message = try await message(channel) { transport.connections.contains { $0.openStreams == 2 } }
    #expect(message.hasSuffix("room on the connection to \(listener.target) (the request was not sent yet)"))
    #expect(await first.value != nil)
    withExtendedLifetime(peer) {}
  }

  @Test(arguments: [Wire.ipv4, .tls]) func aHandlerThatIsSlow(_ wire: Wire) async throws {
    try await TestPair.with(wire) { pair async throws in
      let call = Task { try await pair.get(TestService.hang, options: Self.options) }
      await pair.service.hanging.wait()
      let loop = try #require(pair.channel.eventLoop as? Loop)
      await loop.advance(by: .seconds(601))
      let message = await status { _ = try await call.value }?.message
      #expect(message?.contains(", while waiting for the response from 127.0.0.1:") == true)
    }
  }

  /// It counts from the start of the call, whatever the program took it for.
  @Test(arguments: [Wire.ipv4, .inProcess], [false, true])
  func aTimeoutBelowZeroIsRefused(_ wire: Wire, _ hasInterceptor: Bool) async throws {
    try await TestPair.with(wire) { pair async throws in
      for timeout in [Duration.seconds(-1), .seconds(Int64.min)] {
        let options = CallOptions(timeout: timeout)
        let chain = hasInterceptor ? CallInterceptors<[UInt8], [UInt8]>([ClientInterceptor()]) : nil
        let call = MethodCall(TestService.get.bytes, on: pair.channel, options: options, interceptors: chain)
        let failure = await status { _ = try await call.makeUnaryCall([1]).response }
        #expect(failure?.code == .invalidArgument)
        let message =
          "timeout is \(timeout): it must be at least 0.0 seconds, because it counts from the start"
        #expect(failure?.message?.hasPrefix(message) == true)
        #expect(failure?.message?.contains("write max(.zero, time - .now)") == true)
      }
    }
  }

  @Test func aTimeoutOfNoTime() async throws {
    try await TestPair.with(.inProcess) { pair async throws in
      let failure = await status {
        _ = try await pair.get(TestService.get, options: CallOptions(timeout: .zero))
      }
      #expect(failure?.code == .deadlineExceeded)
      #expect(failure?.message?.hasPrefix("deadline of 0 ms (CallOptions.timeout) exceeded") == true)
    }
  }

  @Test func aHandlerInTheSameProcessThatIsSlow() async throws {
    try await TestPair.with(.inProcess) { pair async throws in
      let call = Task { try await pair.get(TestService.hang, options: Self.options) }
      await pair.service.hanging.wait()
      let loop = try #require(pair.channel.eventLoop as? Loop)
      await loop.advance(by: .seconds(601))
      let message = try #require(await status { _ = try await call.value }?.message)
      #expect(
        message.hasSuffix("while waiting for the response of the handler of /test.Test/Hang in this process")
      )
    }
  }

  @Test(arguments: [HTTPVersion.negotiated, .http1]) func aConnectCallThatIsSlow(_ version: HTTPVersion)
    async throws
  {
    var options = ChannelOptions()
    options.wireProtocol = .connect
    options.httpVersion = version
    try await TestPair.with(server: WireProtocolTests.server, channel: options) { pair async throws in
      let call = Task { try await pair.get(TestService.hang, options: Self.options) }
      await pair.service.hanging.wait()
      let loop = try #require(pair.channel.eventLoop as? Loop)
      await loop.advance(by: .seconds(601))
      let message = await status { _ = try await call.value }?.message
      #expect(message?.contains(", while waiting for the response from 127.0.0.1:") == true)
    }
  }

  @Test(arguments: [Wire.ipv4, .inProcess]) func requestsThatAreNotFinished(_ wire: Wire) async throws {
    try await TestPair.with(wire) { pair async throws in
      let call = pair.channel.call(TestService.collect, options: Self.options).makeClientStreamingCall()
      try await call.requestStream.send([1])
      let loop = try #require(pair.channel.eventLoop as? Loop)
      if wire == .ipv4 { try await ready(pair.channel) }
      await loop.advance(by: .seconds(601))
      let message = await call.status.message
      #expect(message?.hasSuffix("(the requests were not finished either)") == true)
    }
  }

  @Test(arguments: [Wire.ipv4, .inProcess])
  func requestsThatAreNotFinishedAfterResponses(_ wire: Wire) async throws {
    try await TestPair.with(wire) { pair async throws in
      let call = pair.channel.call(TestService.update, options: Self.options)
        .makeBidirectionalStreamingCall()
      try await call.requestStream.send([1])
      var responses = call.responseStream.makeAsyncIterator()
      #expect(try await responses.next() != nil)
      let loop = try #require(pair.channel.eventLoop as? Loop)
      await loop.advance(by: .seconds(601))
      let message = await call.status.message
      #expect(message?.hasSuffix("the requests were not finished either)") == true)
    }
  }

  @Test func theServerSaysThatRequestsAreNotFinished() async throws {
    let group = try LoopGroup()
    try await TestPair.with(serverGroup: group) { pair async throws in
      let call = pair.channel.call(TestService.collect, options: Self.options).makeClientStreamingCall()
      try await call.requestStream.send([1])
      await group.loops[0].until { pair.server.core.connections.contains { $0.runningHandlers > 0 } }
      await group.loops[0].advance(by: .seconds(601))
      let message = await call.status.message
      #expect(
        message?.hasSuffix("while the server's handler ran (the requests were not finished either)") == true
      )
    }
  }

  /// Returns once the only call is open and its request was sent.
  private func ready(_ channel: Channel) async throws {
    let transport = try transport(channel)
    await transport.loop.until {
      transport.connections.contains { $0.openStreams == 1 && $0.counters.messagesSent > 0 }
    }
  }

  @Test func responsesThatNobodyReads() async throws {
    try await TestPair.with { pair async throws in
      let call = pair.channel.call(TestService.flood, options: Self.options).makeServerStreamingCall([])
      let transport = try transport(pair.channel)
      _ = try await call.initialMetadata
      // The pipe takes 26 of them.
      await transport.loop.until { transport.connections.contains { $0.counters.messagesReceived > 20 } }
      await transport.loop.advance(by: .seconds(601))
      let message = await call.status.message
      #expect(message?.hasSuffix("while responses waited to be read by the caller") == true)
    }
  }

  @Test func anInterceptorThatHoldsTheCall() async throws {
    try await withChannel(try Channel(inProcess: [TestService()])) { channel async throws in
      let chain = CallInterceptors<[UInt8], [UInt8]>([Holding()])
      let call = MethodCall(TestService.get.bytes, on: channel, options: Self.options, interceptors: chain)
      let response = Task { try await call.unary([1]) }
      let loop = try #require(channel.eventLoop as? Loop)
      await loop.until { loop.openHandles > 0 }
      await loop.advance(by: .seconds(601))
      let message = await status { _ = try await response.value }?.message
      #expect(message?.hasSuffix(", while an interceptor held the call (Holding)") == true)
    }
  }

  @Test func aTokenThatDoesNotCome() async throws {
    let channel = try Channel(inProcess: [TestService()])
    var options = Self.options
    options.authTokenProvider = SilentTokens()
    let loop = try #require(channel.eventLoop as? Loop)
    let message = try await message(channel, options) { loop.openHandles > 0 }
    #expect(message.hasSuffix("while waiting for a token of CallOptions.authTokenProvider"))
  }

  /// The server's own end of such a call.
  @Test func theServerSaysWhatItsHandlerDid() async throws {
    let group = try LoopGroup()
    try await TestPair.with(serverGroup: group) { pair async throws in
      let call = Task { try await pair.get(TestService.hang, options: Self.options) }
      await pair.service.hanging.wait()
      await group.loops[0].advance(by: .seconds(601))
      let message = try #require(await status { _ = try await call.value }?.message)
      #expect(message.hasPrefix("deadline of "))
      #expect(message.contains("(of the client) exceeded after "))
      #expect(message.hasSuffix(", while the server's handler ran"))
    }
  }

  @Test(
    arguments: [
      (Duration.seconds(2), "2 s"), (.milliseconds(1250), "1.25 s"), (.milliseconds(250), "250 ms"),
      (.microseconds(1500), "1.5 ms"), (.zero, "0 ms"), (.seconds(3600), "3600 s"),
    ]
  ) func durationsAreReadable(_ duration: Duration, _ text: String) {
    #expect(duration.readable == text)
  }
}

/// Never says anything.
private struct SilentResolver: Resolver {
  let schemes = ["silent"]
  let findsServiceConfigs: Bool
  func start(_ target: Target, _ updates: ResolverUpdates) -> any Resolution { Silent() }

  private final class Silent: Resolution {
    func resolveAgain() {}
    func stop() {}
  }
}

/// Keeps what it gets.
private final class Holding: ClientInterceptor<[UInt8], [UInt8]> {
  override func send(
    _ part: GRPCClientRequestPart<[UInt8]>,
    promise: EventLoopPromise<Void>?,
    context: ClientInterceptorContext<[UInt8], [UInt8]>
  ) {}
}

private final class SilentTokens: AuthTokenProvider {
  func token() async throws -> String? {
    let never = Signal()
    await withTaskCancellationHandler {
      await never.wait()
    } onCancel: {
      never.fire()
    }
    return nil
  }
}
