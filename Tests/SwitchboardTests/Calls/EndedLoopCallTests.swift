import CallTestSupport
import Switchboard
import Testing

@testable import SwitchboardNetwork
@testable import SwitchboardTransport

/// Calls on a loop that has ended still end with a status, regardless of what is between the caller and the transport.
@Suite(.timeLimit(.minutes(5))) struct EndedLoopCallTests {
  private enum Way: CaseIterable {
    case plain, inProcess, retried, hedged, authorized, intercepted
  }

  private struct Token: AuthTokenProvider {
    func token() async throws -> String? { "token" }
  }

  private struct PassThrough: ClientInterceptorFactory {
    func makeClientInterceptors<Request: Sendable, Response: Sendable>(
      for method: MethodDescriptor
    ) -> [ClientInterceptor<Request, Response>] { [ClientInterceptor()] }
  }

  /// A channel whose loop's thread has ended.
  private static func channel(_ way: Way) async throws -> Channel {
    let group = try LoopGroup()
    let loop = group.loops[0]
    var options = ChannelOptions()
    let (json, names) = ("0.01s", #""name":[{}]"#)
    switch way {
    case .plain, .inProcess, .authorized: break
    case .retried:
      options.serviceConfig = try ServiceConfig(
        json: """
          {"methodConfig":[{\(names),"retryPolicy":{"maxAttempts":3,"initialBackoff":"\(json)","maxBackoff":"\(json)",\
          "backoffMultiplier":1,"retryableStatusCodes":["UNAVAILABLE"]}}]}
          """
      )
    case .hedged:
      options.serviceConfig = try ServiceConfig(
        json: """
          {"methodConfig":[{\(names),"hedgingPolicy":{"maxAttempts":3,"hedgingDelay":"\(json)",\
          "nonFatalStatusCodes":["UNAVAILABLE"]}}]}
          """
      )
    case .intercepted: options.interceptorFactories = [PassThrough()]
    }
    let channel =
      way == .inProcess
      ? try Channel(inProcess: [], channelOptions: options, group: group)
      : try Channel(target: "127.0.0.1:1", options: options, group: group)
    group.shutDown()
    while !Task.isCancelled, loop.add(.closure {}) { await Task.yield() }
    return channel
  }

  private static let unary = MethodDescriptor(service: "s", method: "Unary", type: .unary)
  private static let stream = MethodDescriptor(service: "s", method: "Stream", type: .serverStreaming)
  private static let upload = MethodDescriptor(service: "s", method: "Upload", type: .clientStreaming)

  @Test(arguments: Way.allCases) private func callsEnd(_ way: Way) async throws {
    let channel = try await Self.channel(way)
    var options = CallOptions(timeout: .seconds(30))
    if way == .authorized { options.authTokenProvider = Token() }
    let given = options
    let single = await status {
      _ = try await channel.call(Self.unary, options: given).unary([1])
    }
    #expect(single?.code == .unavailable)
    let streamed = await status {
      let responses = channel.call(Self.stream, options: given).serverStreaming([1])
      for try await _ in responses {}
    }
    #expect(streamed?.code == .unavailable)
    let uploaded = await status {
      let requests = AsyncStream<[UInt8]> { [1] }
      _ = try await channel.call(Self.upload, options: given).clientStreaming(requests)
    }
    #expect(uploaded?.code == .unavailable)
    await channel.shutDown(grace: .zero)
  }

  /// A failing transport runs on its own queue.
  @Test func callsOnAFailingTransportEnd() async throws {
    let failing = FailingTransport(GRPCStatus(code: .aborted))
    let channel = Channel(failing)
    let failure = await status {
      _ = try await channel.call(Self.unary).unary([1])
    }
    #expect(failure?.code == .aborted)
  }
}
