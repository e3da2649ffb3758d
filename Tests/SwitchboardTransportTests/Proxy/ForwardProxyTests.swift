import CallTestSupport
import CertificateSupport
import Foundation
import ServerTestSupport
import SwitchboardCall
import TestSupport
import Testing

@testable import SwitchboardNetwork
@testable import SwitchboardTransport

/// Our client and our server with a real proxy between them: tinyproxy and squid, asked by CONNECT, and microsocks.
@Suite(.mayBlock, .serialized, .timeLimit(.minutes(5))) struct ForwardProxyTests {
  private func credentials(_ kind: ForwardProxy.Kind) -> ProxyCredentials {
    kind == .tinyproxy
      ? ProxyCredentials(user: "alice", password: "sesame") : ForwardProxy.credentials
  }

  /// Calls a server that the proxy finds under `host`.
  private func call(
    _ host: String = "localhost",
    overTLS: Bool,
    _ proxy: ProxyOption,
    environment: ProxyEnvironment = ProxyEnvironment()
  ) async throws {
    var serverOptions = ServerOptions()
    var options = ChannelOptions()
    options.security = .plaintext
    options.proxy = proxy
    if overTLS {
      serverOptions.tls = ServerTLS(credentials: TestCertificates.server)
      options.security = .tls(ClientTLS(trustRoots: TestCertificates.authority))
    }
    try await withServer([TestService()], options: serverOptions) { _, address async throws in
      let group = try LoopGroup()
      let transport = try HTTP2ClientTransport(
        target: "\(host):\(address.port)",
        options: options,
        group: group,
        loop: group.nextLoop(),
        proxies: environment
      )
      try await withChannel(Channel(transport)) { channel async throws in
        try await everyKindOfCall(Caller(channel: channel))
      }
    }
  }

  private func everyKindOfCall(_ caller: Caller) async throws {
    let large = [UInt8](repeating: 7, count: 1 << 20)
    #expect(try await caller.get(TestService.get, large) == large)
    #expect(try await caller.expand(TestService.expand, [1, 2, 3]).collected() == [[1], [2], [3]])
    #expect(try await caller.collect(TestService.collect, [[1], [2]]) == [1, 2])
    #expect(try await caller.update([[1], [2]]).collected() == [[1], [2]])
  }

  @Test(arguments: ForwardProxy.Kind.allCases, [false, true])
  func everyKindOfCallPasses(_ kind: ForwardProxy.Kind, overTLS: Bool) async throws {
    let proxy = try ForwardProxy(kind)
    try await call(overTLS: overTLS, proxy.option(kind))
  }

  @Test(arguments: ForwardProxy.Kind.allCases) func aPasswordIsSent(_ kind: ForwardProxy.Kind) async throws {
    let proxy = try ForwardProxy(kind, asksForPassword: true)
    try await call(overTLS: true, proxy.option(kind, credentials(kind)))
    for wrong in [nil, ProxyCredentials(user: "alice", password: "wrong")] {
      let status = await status { try await call(overTLS: true, proxy.option(kind, wrong)) }
      #expect(status?.code == .unavailable)
      #expect(status?.origin == .peer)
      #expect(
        status?.message?.hasPrefix("the proxy 127.0.0.1:\(proxy.port) refused: ") == true
      )
    }
  }

  /// The name exists for the proxy alone, and the server's certificate has it.
  @Test func aNameIsResolvedByTheProxy() async throws {
    let proxy = try ForwardProxy(.squid, asksForPassword: true)
    let environment = ProxyEnvironment(
      proxy: "http://alice:open%20sesame%3A%20100%25@127.0.0.1:\(proxy.port)",
      exceptions: "localhost,.example.com"
    )
    try await call("switchboard.test", overTLS: true, .environment, environment: environment)
    try await call("switchboard.test", overTLS: false, .environment, environment: environment)
  }

  @Test(arguments: ForwardProxy.Kind.allCases) func anUnreachableServerIsReported(_ kind: ForwardProxy.Kind)
    async throws
  {
    let proxy = try ForwardProxy(kind)
    let closed = try LoopbackSocket.listening()
    close(closed.descriptor)
    var options = ChannelOptions()
    options.proxy = proxy.option(kind)
    try await withChannel(to: "127.0.0.1:\(closed.port)", options: options) { channel async throws in
      let status = await status { _ = try await Caller(channel: channel).get() }
      let refusal =
        switch kind {
        case .tinyproxy: "500 Unable to connect"
        case .squid: "503 Service Unavailable"
        case .microsocks: "5 connection refused"
        }
      #expect(status?.message == "the proxy 127.0.0.1:\(proxy.port) refused: \(refusal)")
    }
  }
}
