import CallTestSupport
import CertificateSupport
import ServerTestSupport
import SwitchboardCall
import SwitchboardNetwork
import SwitchboardTransport
import TestSupport
import Testing

/// Our client and our server with a proxy between them: nginx's `grpc_pass` and HAProxy's `proto h2`.
@Suite(.mayBlock, .serialized, .timeLimit(.minutes(5))) struct ReverseProxyTests {
  private struct Through {
    let pair: TestPair
    let proxy: ReverseProxy
    let channel: Channel
    var caller: Caller { Caller(channel: channel) }
  }

  private func with(
    _ kind: ReverseProxy.Kind,
    _ security: ReverseProxy.Security = .none,
    timeout: Double = 30,
    _ body: (Through) async throws -> Void
  ) async throws {
    var serverOptions = ServerOptions()
    if security == .terminatedAndNew || security == .passedThrough {
      serverOptions.tls = ServerTLS(credentials: TestCertificates.server)
    }
    try await TestPair.with(.unix, server: serverOptions) { pair async throws in
      let proxy = try ReverseProxy(kind, security, upstream: pair.address, timeout: timeout)
      var options = ChannelOptions()
      if security != .none {
        options.security = .tls(
          ClientTLS(trustRoots: TestCertificates.authority, serverNameOverride: "localhost")
        )
      }
      options.connectInitialBackoff = .milliseconds(10)
      options.connectMaxBackoff = .milliseconds(50)
      try await withChannel(to: proxy.target, options: options) { channel async throws in
        // This call waits until the proxy has started.
        var patient = CallOptions(timeout: .seconds(300))
        patient.waitForReady = true
        #expect(try await Caller(channel: channel).get(options: patient) == [1, 2, 3])
        try await body(Through(pair: pair, proxy: proxy, channel: channel))
      }
    }
  }

  @Test(arguments: ReverseProxy.Kind.allCases) func everyKindOfCallPasses(_ kind: ReverseProxy.Kind)
    async throws
  {
    try await with(kind) { through async throws in
      try await through.caller.callEverything()
    }
  }

  /// nginx needs a module to forward raw TCP, which Debian has in a separate package.
  @Test(
    arguments: [
      (.nginx, .terminated), (.nginx, .terminatedAndNew), (.haproxy, .terminated),
      (.haproxy, .terminatedAndNew), (.haproxy, .passedThrough),
    ] as [(ReverseProxy.Kind, ReverseProxy.Security)]
  )
  func everyKindOfCallPassesWithTLS(_ kind: ReverseProxy.Kind, _ security: ReverseProxy.Security) async throws
  {
    try await with(kind, security) { through async throws in
      try await through.caller.callEverything()
    }
  }

  @Test(arguments: ReverseProxy.Kind.allCases) func manyCallsPassAtOnce(_ kind: ReverseProxy.Kind)
    async throws
  {
    try await with(kind) { through async throws in
      let caller = through.caller
      try await withThrowingTaskGroup(of: Bool.self) { group in
        for index in 0..<500 {
          let request = [UInt8](repeating: UInt8(index % 256), count: index)
          group.addTask { try await caller.get(TestService.get, request) == request }
        }
        for try await isRight in group { #expect(isRight) }
      }
    }
  }

  @Test(arguments: ReverseProxy.Kind.allCases) func aCancellationReachesTheHandler(_ kind: ReverseProxy.Kind)
    async throws
  {
    try await with(kind) { through async throws in
      let caller = through.caller
      let call = Task { try await caller.get(TestService.hang) }
      await through.pair.service.hanging.wait()
      call.cancel()
      await through.pair.service.cancelled.wait()
      #expect(await status { _ = try await call.value }?.code == .cancelled)
    }
  }

  @Test(arguments: ReverseProxy.Kind.allCases) func aSilentServerIsUnavailable(
    _ kind: ReverseProxy.Kind
  ) async throws {
    try await with(kind, timeout: 0.3) { through async throws in
      // The proxy responds with 504.
      let status = await status { _ = try await through.caller.get(TestService.hang) }
      #expect(status?.code == .unavailable)
      #expect(try await through.caller.get() == [1, 2, 3])
    }
  }

  @Test(arguments: ReverseProxy.Kind.allCases) func aStoppedServerIsUnavailable(_ kind: ReverseProxy.Kind)
    async throws
  {
    try await with(kind) { through async throws in
      let caller = through.caller
      let call = Task { try await caller.get(TestService.hang) }
      await through.pair.service.hanging.wait()
      await through.pair.server.shutDown(grace: .zero)
      // The server is killed during the call: the proxy responds with 502 or resets the stream.
      let cut = try #require(await status { _ = try await call.value })
      #expect([.unavailable, .internalError, .cancelled].contains(cut.code))
      // There is no server: it responds with 502 or 503.
      #expect(await status { _ = try await caller.get() }?.code == .unavailable)
    }
  }

  @Test(arguments: ReverseProxy.Kind.allCases) func aReloadedProxyFinishesItsCalls(
    _ kind: ReverseProxy.Kind
  )
    async throws
  {
    try await with(kind) { through async throws in
      let caller = through.caller
      let (requests, writer) = AsyncStream<[UInt8]>.makeStream()
      let collected = Task { try await caller.collect(TestService.collect, requests) }
      writer.yield([1])
      #expect(try await caller.get() == [1, 2, 3])
      through.proxy.reload()
      for index in 0..<200 {
        let request = [UInt8(index)]
        #expect(try await caller.get(TestService.get, request) == request)
      }
      writer.yield([2])
      writer.finish()
      #expect(try await collected.value == [1, 2])
    }
  }
}
