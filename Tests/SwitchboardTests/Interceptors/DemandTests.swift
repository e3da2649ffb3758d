import CallTestSupport
import EchoService
import ServerTestSupport
import Switchboard
import Synchronization
import Testing

/// A chain takes part in flow control: it may hold back demand, change it and add its own.
@Suite(.timeLimit(.minutes(5))) struct DemandTests {
  @Test func theCallersDemandPassesTheChain() async throws {
    let log = Log()
    let words = (0..<100).map { String($0) }.joined(separator: " ")
    try await EchoPair.with { pair async throws in
      let client = pair.client { [DemandRecorder("1", log), DemandRecorder("2", log)] }
      #expect(try await client.expand(Echo_EchoRequest(words)).collected().count == 100)
    }
    let asked = log.lines.filter { $0.hasPrefix("1 ") }.compactMap { Int($0.dropFirst(2)) }
    #expect(asked.first == 16)
    #expect(asked.reduce(0, +) >= 100)
    #expect(log.lines.filter { $0.hasPrefix("2 ") }.count == asked.count)
  }

  @Test func withheldPartsDoNotArrive() async throws {
    let log = Log()
    try await EchoPair.with { pair async throws in
      let client = pair.client { [OneByOne(log)] }
      #expect(try await client.expand(Echo_EchoRequest("a b c")).collected().map(\.text) == ["a", "b", "c"])
    }
    // Each message came only after it was requested.
    #expect(log.lines == ["demand", "message", "demand", "message", "demand", "message", "demand", "end"])
  }

  @Test func theEndArrivesWithoutDemand() async throws {
    try await EchoPair.with { pair async throws in
      let client = pair.client { [DemandsNothing()] }
      #expect(try await client.expand(Echo_EchoRequest("")).collected().isEmpty)
      let short = pair.client(timeout: .milliseconds(50)) { [DemandsNothing()] }
      #expect(
        await status { _ = try await short.expand(Echo_EchoRequest("a b")).collected() }?.code
          == .deadlineExceeded
      )
    }
  }

  /// The call ends on the transport before the chain has read what it has requested.
  @Test(.timeLimit(.minutes(1))) func theDeadlinePassesWhileDemandIsMissing() async throws {
    let log = Log()
    let provider = TutorialProvider(interceptors: ServerFactory { [EarlyMetadata(log)] })
    try await withChannel(try Channel(inProcess: [provider])) { channel async throws in
      let client = Echo_EchoClient(
        channel: channel,
        defaultCallOptions: CallOptions(timeout: .milliseconds(300)),
        interceptors: ClientFactory { [DemandsThree(log)] }
      )
      let status = await status { _ = try await client.expand(Echo_EchoRequest("a b c d")).collected() }
      #expect(status?.code == .deadlineExceeded)
    }
  }

  @Test func aReaderWithoutDemandEndsWithItsCall() async throws {
    let live = LiveCount()
    try await EchoPair.with { pair async throws in
      var options = CallOptions(timeout: .milliseconds(50))
      options.authTokenProvider = CountedTokens(live)
      let status = await status {
        let client = pair.client { [DemandsNothing()] }
        _ = try await client.expand(Echo_EchoRequest("a b"), callOptions: options).collected()
      }
      #expect(status?.code == .deadlineExceeded)
      options = CallOptions()
      try await live.isZero()
    }
  }

  @Test func aChainCanRequestMoreMessages() async throws {
    let log = Log()
    try await EchoPair.with { pair async throws in
      let client = pair.client { [Prefetcher(), DemandRecorder("2", log)] }
      let call = client.makeExpandCall(Echo_EchoRequest("a b c"))
      #expect(await call.status.isOk)
      #expect(try await call.responseStream.collected().map(\.text) == ["a", "b", "c"])
    }
    #expect(log.lines.first == "2 1016")
  }

  @Test func aServersChainCanHoldBackRequests() async throws {
    let log = Log()
    let make: @Sendable () -> [EchoServerInterceptor] = { [ServerOneByOne(log)] }
    try await EchoPair.with(server: make) { pair async throws in
      let requests = ["a", "b", "c"].map { Echo_EchoRequest($0) }
      #expect(try await pair.client().collect(requests).text == "abc")
    }
    #expect(log.lines == ["demand", "message", "demand", "message", "demand", "message", "demand", "end"])
  }

  @Test func theEndOfRequestsArrivesWithoutDemand() async throws {
    let log = Log()
    let make: @Sendable () -> [EchoServerInterceptor] = { [ServerDemandsNothing(log)] }
    try await EchoPair.with(server: make) { pair async throws in
      let call = pair.client().makeCollectCall()
      _ = try await log.lines(atLeast: 1)
      call.requestStream.finish()
      #expect(try await call.response.text.isEmpty)
    }
  }
}

private final class DemandRecorder: EchoClientInterceptor {
  private let name: String
  private let log: Log

  init(_ name: String, _ log: Log) {
    self.name = name
    self.log = log
  }

  override func receiveNextMessages(_ count: Int, context: EchoClientContext) {
    log.note("\(name) \(count)")
    context.receiveNextMessages(count)
  }
}

/// Requests the next message when it has seen the last.
private final class OneByOne: EchoClientInterceptor {
  private let log: Log
  private var hasBegun = false

  init(_ log: Log) { self.log = log }

  override func receiveNextMessages(_ count: Int, context: EchoClientContext) {
    guard !hasBegun else { return }
    hasBegun = true
    demand(context)
  }

  override func receive(_ part: GRPCClientResponsePart<Echo_EchoResponse>, context: EchoClientContext) {
    context.receive(part)
    switch part {
    case .metadata: break
    case .message:
      log.note("message")
      demand(context)
    case .end: log.note("end")
    }
  }

  private func demand(_ context: EchoClientContext) {
    log.note("demand")
    context.receiveNextMessages(1)
  }
}

private final class ServerOneByOne: EchoServerInterceptor {
  private let log: Log
  private var hasBegun = false

  init(_ log: Log) { self.log = log }

  override func receiveNextMessages(_ count: Int, context: EchoServerContext) {
    guard !hasBegun else { return }
    hasBegun = true
    demand(context)
  }

  override func receive(_ part: GRPCServerRequestPart<Echo_EchoRequest>, context: EchoServerContext) {
    context.receive(part)
    switch part {
    case .metadata: break
    case .message:
      log.note("message")
      demand(context)
    case .end: log.note("end")
    }
  }

  private func demand(_ context: EchoServerContext) {
    log.note("demand")
    context.receiveNextMessages(1)
  }
}

private final class DemandsNothing: EchoClientInterceptor {
  override func receiveNextMessages(_ count: Int, context: EchoClientContext) {}
}

private final class DemandsThree: EchoClientInterceptor {
  private let log: Log
  private var hasAsked = false

  init(_ log: Log) { self.log = log }

  override func receiveNextMessages(_ count: Int, context: EchoClientContext) {
    guard !hasAsked else { return }
    hasAsked = true
    context.receiveNextMessages(3)
    log.note("asked")
  }
}

/// Sends the metadata at once, and passes on the request after the client has demanded responses.
private final class EarlyMetadata: EchoServerInterceptor {
  private let log: Log

  init(_ log: Log) { self.log = log }

  override func receive(_ part: GRPCServerRequestPart<Echo_EchoRequest>, context: EchoServerContext) {
    if case .metadata = part { context.send(.metadata(HPACKHeaders()), promise: nil) }
    guard case .end = part else { return context.receive(part) }
    Task { [log] in
      _ = try await log.lines(atLeast: 1)
      context.receive(part)
    }
  }
}

private final class ServerDemandsNothing: EchoServerInterceptor {
  private let log: Log

  init(_ log: Log) { self.log = log }

  override func receiveNextMessages(_ count: Int, context: EchoServerContext) { log.note("asked") }
}

private final class Prefetcher: EchoClientInterceptor {
  override func receiveNextMessages(_ count: Int, context: EchoClientContext) {
    context.receiveNextMessages(count + 1000)
  }
}

/// An object that lives as long as any part of a call that uses it.
private final class CountedTokens: AuthTokenProvider {
  private let live: LiveCount

  init(_ live: LiveCount) {
    self.live = live
    live.add(1)
  }

  deinit { live.add(-1) }

  func token() async throws -> String? { nil }
}
