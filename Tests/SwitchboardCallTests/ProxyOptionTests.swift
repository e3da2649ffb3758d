import SwitchboardCall
import Testing

@Suite struct ProxyOptionTests {
  @Test func aChannelsProxyIsChecked() {
    var options = ChannelOptions()
    let long = String(repeating: "x", count: 256)
    for option in [
      ProxyOption.http(host: "", port: 1), .http(host: "proxy\n", port: 1), .http(host: "proxy", port: 0),
      .socks5(host: "proxy", port: 70_000),
      .socks5(host: "proxy", port: 1, credentials: ProxyCredentials(user: "a", password: long)),
      .http(host: "proxy", port: 1, credentials: ProxyCredentials(user: "a:b", password: "")),
    ] {
      options.proxy = option
      #expect(throws: GRPCStatus.self) { try options.proxy.validate() }
    }
    options.proxy = .http(host: "proxy", port: 1, credentials: ProxyCredentials(user: "a", password: long))
    #expect(throws: Never.self) { try options.proxy.validate() }
  }

  @Test func credentialsAreNotShown() {
    var options = ChannelOptions()
    let alice = ProxyCredentials(user: "alice", password: "sesame")
    options.proxy = .http(host: "proxy", port: 3128, credentials: alice)
    let call = CallOptions.with { $0.proxy = options.proxy }
    var dumped = ""
    dump(options, to: &dumped)
    dump(call, to: &dumped)
    let shown = dumped + "\(options) \(call) \(options.proxy) \(String(reflecting: options.proxy))"
    #expect(!shown.contains("sesame") && !shown.contains("alice"))
    #expect("\(options.proxy)".contains("3128"))
  }

  /// `.none` chooses to use no proxy. It does not leave the option unset.
  @Test func anOptionOfACallChoosesTheChannel() {
    let none = CallOptions.with { $0.proxy = .none }
    #expect(none.proxy == .none)
    #expect(none.channelOptions.options.proxy == .none)
    #expect(CallOptions().proxy == .environment)
    #expect(CallOptions().channelOptions != none.channelOptions)
    let environment = CallOptions.with { $0.proxy = .environment }
    #expect(CallOptions().channelOptions == environment.channelOptions)
  }
}
