import CallTestSupport
import ServerTestSupport
import SwitchboardCall
import SwitchboardTransport
import Testing

/// Calls of a channel whose options say that they wait.
@Suite(.timeLimit(.minutes(5))) struct WaitingChannelTests {
  /// Nobody listens there.
  private static let targets = ["127.0.0.1:1", "dns:///nobody.invalid:1"]

  @Test(arguments: targets) func callsWaitUnlessTheySayOtherwise(_ target: String) async throws {
    var options = ChannelOptions()
    options.waitForReady = true
    options.logger = .quiet
    try await withChannel(to: target, options: options) { channel async throws in
      let patient = CallOptions(timeout: .milliseconds(200))
      let late = await status { _ = try await Caller(channel: channel).get(options: patient) }
      #expect(late?.code == .deadlineExceeded)
      let hasty = CallOptions.with { $0.waitForReady = false }
      let failed = await status { _ = try await Caller(channel: channel).get(options: hasty) }
      #expect(failed?.code == .unavailable)
    }
  }

  @Test func aServiceConfigDecidesFirst() async throws {
    var options = ChannelOptions()
    options.waitForReady = true
    options.logger = .quiet
    var method = MethodConfig(names: [try .init()])
    method.waitForReady = false
    options.serviceConfig = try ServiceConfig(methodConfigs: [method])
    try await withChannel(to: "127.0.0.1:1", options: options) { channel async throws in
      let failed = await status { _ = try await Caller(channel: channel).get() }
      #expect(failed?.code == .unavailable)
    }
  }
}
