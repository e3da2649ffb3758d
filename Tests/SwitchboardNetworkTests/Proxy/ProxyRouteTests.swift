import SwitchboardBalancing
import SwitchboardCall
import Testing

@testable import SwitchboardNetwork

/// Which targets are reached through which proxy.
@Suite struct ProxyRouteTests {
  /// Where a route leads, leg by leg, with `>` before what a proxy is asked for.
  private func route(
    _ target: String,
    _ option: ProxyOption = .environment,
    proxy: String = "proxy:3128",
    exceptions: String = ""
  ) throws -> [String] {
    let environment = ProxyEnvironment(proxy: proxy, exceptions: exceptions)
    return try ProxyRoute(to: addresses(of: target), option, environment).legs.map { leg in
      let place =
        switch leg.destination {
        case .name(let host, let port): "\(host):\(port)"
        case .addresses(let addresses): addresses.map(\.endpoint).joined(separator: ",")
        }
      return place + (leg.tunnel.map { ">\($0.destination.authority)" } ?? "")
    }
  }

  /// The addresses that are dialed for a target.
  private func addresses(of text: String) throws -> [EndpointAddress] {
    let target = try Target(text, schemes: Set(AddressResolver().schemes + ["dns"]), fallback: "dns")
    guard target.scheme == "dns" else { return try AddressResolver.addresses(of: target) }
    let parts = try #require(HostAndPort(target.endpoint))
    return [EndpointAddress(ip: parts.host, port: parts.port) ?? .name(host: parts.host, port: parts.port)]
  }

  @Test func theEnvironmentChoosesForNamesAndAddresses() throws {
    #expect(try route("example.com:80") == ["proxy:3128>example.com:80"])
    #expect(try route("dns:///example.com") == ["proxy:3128>example.com:443"])
    #expect(try route("10.1.2.3:80") == ["proxy:3128>10.1.2.3:80"])
    #expect(try route("ipv6:[fd00::1]:80") == ["proxy:3128>[fd00::1]:80"])
    #expect(try route("unix:/tmp/a") == ["unix:/tmp/a"])
    #expect(try route("example.com:80", proxy: "") == ["example.com:80"])
    #expect(try route("example.com:80", proxy: "http://u:p@[::1]:1") == ["[::1]:1>example.com:80"])
  }

  @Test func localTargetsNeedNoProxy() throws {
    for target in ["localhost:80", "LOCALHOST:80", "127.0.0.1:80", "127.8.9.10:80", "[::1]:80"] {
      #expect(try !route(target)[0].contains(">"))
    }
    #expect(try route("[::ffff:127.0.0.1]:80").count == 1)
    #expect(try !route("[::ffff:127.0.0.1]:80")[0].contains(">"))
    #expect(try route("localhost.example:80") == ["proxy:3128>localhost.example:80"])
  }

  @Test func anOptionAppliesToAllButUnixSockets() throws {
    let option = ProxyOption.socks5(host: "127.0.0.1", port: 1080)
    #expect(try route("localhost:80", option, exceptions: "*") == ["127.0.0.1:1080>localhost:80"])
    #expect(try route("127.0.0.1:80", option, exceptions: "*") == ["127.0.0.1:1080>127.0.0.1:80"])
    #expect(try route("unix:/tmp/a", option) == ["unix:/tmp/a"])
    #expect(try route("example.com:80", .none) == ["example.com:80"])
    #expect(
      try route("ipv4:10.0.0.1:1,10.0.0.2:2", option)
        == ["127.0.0.1:1080>10.0.0.1:1", "127.0.0.1:1080>10.0.0.2:2"]
    )
  }

  @Test func addressesThatNeedNoProxyComeFirst() throws {
    let target = "ipv4:10.0.0.1:1,192.168.0.1:2,192.168.0.2:3"
    #expect(
      try route(target, exceptions: "192.168.0.0/16")
        == ["192.168.0.1:2,192.168.0.2:3", "proxy:3128>10.0.0.1:1"]
    )
    #expect(try route(target, exceptions: "*") == ["10.0.0.1:1,192.168.0.1:2,192.168.0.2:3"])
  }

  /// Whatever the channel's own proxy is.
  @Test(arguments: [ProxyOption.none, .environment, .socks5(host: "127.0.0.1", port: 1080)])
  func anAddressMayHaveItsOwnProxy(_ option: ProxyOption) throws {
    let proxies: [EndpointAddress] = [.ipv6(high: 0, low: 1, port: 3), .name(host: "other", port: 4)]
    let addresses: [EndpointAddress] = [
      .proxied(.ipv4(0x7F00_0001, port: 1), by: proxies[0]),
      .proxied(.name(host: "n", port: 2), by: proxies[1]),
    ]
    let route = try ProxyRoute(to: addresses, option, ProxyEnvironment(proxy: "proxy:3128", exceptions: "*"))
    #expect(route.legs.map(\.tunnel?.destination.authority) == ["127.0.0.1:1", "n:2"])
    #expect(route.legs.map(\.tunnel?.proxy.shown) == ["the proxy [::1]:3", "the proxy other:4"])
    #expect(route.legs.map(\.server) == addresses)
  }

  /// A name in TLS is no part of the way.
  @Test func anAddressWithANameIsReachedAsItWouldBeWithoutIt() throws {
    let bare: [EndpointAddress] = [
      .ipv4(0x7F00_0001, port: 1), .name(host: "n", port: 2),
      .proxied(.ipv4(2, port: 2), by: .ipv4(3, port: 3)),
    ]
    let named = bare.map { EndpointAddress.secured($0, as: "a.example") }
    for option in [ProxyOption.none, .http(host: "p", port: 3128)] {
      let (route, usual) = (
        try ProxyRoute(to: named, option, ProxyEnvironment()),
        try ProxyRoute(to: bare, option, ProxyEnvironment())
      )
      #expect(route.legs.map(\.destination) == usual.legs.map(\.destination))
      #expect(route.legs.map(\.tunnel) == usual.legs.map(\.tunnel))
      #expect(route.legs.map(\.server?.way) == usual.legs.map(\.server))
    }
  }

  @Test(arguments: [
    EndpointAddress.proxied(.unix(path: "/a"), by: .ipv4(1, port: 1)),
    .proxied(.ipv4(1, port: 1), by: .unix(path: "/a")),
    .proxied(.proxied(.ipv4(1, port: 1), by: .ipv4(2, port: 2)), by: .ipv4(3, port: 3)),
    .proxied(.ipv4(1, port: 1), by: .proxied(.ipv4(2, port: 2), by: .ipv4(3, port: 3))),
  ])
  func noProxyLeadsToSocketsOrOverOthers(_ address: EndpointAddress) {
    let failure = #expect(throws: GRPCStatus.self) {
      try ProxyRoute(to: [address], .none, ProxyEnvironment())
    }
    #expect(failure?.message?.contains("\(address)") == true)
  }

  private static let exceptions: [(list: String, target: String, isExcepted: Bool)] = [
    ("example.com", "example.com:80", true), ("example.com", "www.Example.COM:80", true),
    ("Example.com", "example.com:80", true), ("example.com", "anexample.com:80", false),
    (".example.com", "www.example.com:80", true), (".example.com", "example.com:80", false),
    ("*.example.com", "a.b.example.com:80", true), ("*.example.com", "example.com:80", false),
    ("a.com, example.com ,b.com", "example.com:80", true), (",,", "example.com:80", false),
    ("example.com:80", "example.com:80", true), ("example.com:80", "example.com:81", false),
    ("example.com:", "example.com:80", true), (":80", "example.com:80", false),
    (".example.com:80", "www.example.com:80", true), ("*", "example.com:80", true),
    ("*", "10.0.0.1:80", true),
    ("a.com,*", "10.0.0.1:80", true), ("10.0.0.1", "10.0.0.1:80", true), ("10.0.0.1", "10.0.0.11:80", false),
    ("10.0.0.1:80", "10.0.0.1:80", true), ("10.0.0.1:80", "10.0.0.1:81", false),
    ("10.0.0.0/8", "10.200.0.1:80", true), ("10.0.0.0/8", "11.0.0.1:80", false),
    ("10.1.2.0/23", "10.1.3.4:80", true), ("10.1.2.0/23", "10.1.4.4:80", false),
    ("0.0.0.0/0", "8.8.8.8:80", true), ("0.0.0.0/0", "[fd00::1]:80", false),
    ("10.0.0.1/32", "10.0.0.1:80", true), ("10.0.0.1/33", "10.0.0.1:80", false),
    ("10.0.0.0/", "10.0.0.0:80", false), ("10.0.0.0/8", "10.example.com:80", false),
    ("fd00::1", "[fd00::1]:80", true), ("[fd00::1]", "[fd00::1]:80", true),
    ("[fd00::1]:80", "[fd00::1]:80", true), ("[fd00::1]:80", "[fd00::1]:81", false),
    ("fd00::/8", "[fdff::1]:80", true), ("fd00::/8", "[fe00::1]:80", false), ("::/0", "[fe00::1]:80", true),
    ("10.0.0.1", "[::ffff:10.0.0.1]:80", true), ("10.0.0.0/8", "[::ffff:10.0.0.1]:80", true),
    ("0.0.1", "10.0.0.1:80", false), ("com", "example.com:80", true), (".", "example.com:80", false),
  ]

  @Test(arguments: exceptions)
  func exceptionsAreRead(_ sample: (list: String, target: String, isExcepted: Bool)) throws {
    let isDirect = try !route(sample.target, exceptions: sample.list)[0].contains(">")
    #expect(isDirect == sample.isExcepted)
  }

  @Test(arguments: [
    "bad name:80", "bücher.example:80", "line\r\nbreak:80", String(repeating: "x", count: 256) + ":80",
  ])
  func aNameUnsuitableForAProxyIsRejected(_ target: String) throws {
    for option in [ProxyOption.environment, .socks5(host: "proxy", port: 1)] {
      #expect(throws: GRPCStatus.self) { try route(target, option) }
    }
    #expect(throws: Never.self) { try route(target, .none) }
  }

  @Test(arguments: [
    (
      "https://u:secret@proxy",
      "https_proxy in the environment: the proxy cannot be used: the scheme of its URL"
    ),
    ("http://u:secret", "https_proxy in the environment: the proxy cannot be used: its URL has a port"),
    ("socks5://u:secret@proxy", "https_proxy in the environment names no HTTP proxy; ChannelOptions.proxy"),
  ])
  func anInvalidVariableFailsOnlyTargetsThatNeedIt(_ sample: (proxy: String, message: String)) throws {
    let status = #expect(throws: GRPCStatus.self) { try route("example.com:80", proxy: sample.proxy) }
    #expect(status?.code == .invalidArgument)
    #expect(status?.message?.hasPrefix(sample.message) == true)
    #expect(status?.message?.contains("secret") == false)
    for target in ["localhost:80", "unix:/a", "excepted:80"] {
      #expect(throws: Never.self) { try route(target, proxy: sample.proxy, exceptions: "excepted") }
    }
  }
}
