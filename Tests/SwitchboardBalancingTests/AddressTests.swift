import SwitchboardBalancing
import SwitchboardCall
import Testing

@Suite
struct EndpointAddressTests {
  /// Texts, and how RFC 5952 writes them.
  @Test(arguments: [
    ("2001:db8::1", "2001:db8::1"), ("2001:0db8:0:0:0:0:0:1", "2001:db8::1"),
    ("2001:DB8::ABCD", "2001:db8::abcd"),
    ("2001:db8:0:1:1:1:1:1", "2001:db8:0:1:1:1:1:1"), ("2001:0:0:1:0:0:0:1", "2001:0:0:1::1"),
    ("2001:db8:0:0:1:0:0:1", "2001:db8::1:0:0:1"), ("::", "::"), ("::1", "::1"), ("1::", "1::"),
    ("::ffff:192.0.2.1", "::ffff:192.0.2.1"), ("::ffff:c000:201", "::ffff:192.0.2.1"),
    ("64:ff9b::192.0.2.33", "64:ff9b::c000:221"), ("1:2:3:4:5:6:7:8", "1:2:3:4:5:6:7:8"),
    ("1:2:3:4:5:6:7::", "1:2:3:4:5:6:7:0"), ("::2:3:4:5:6:7:8", "0:2:3:4:5:6:7:8"),
    ("192.0.2.1", "192.0.2.1"),
    ("0.0.0.0", "0.0.0.0"), ("255.255.255.255", "255.255.255.255"),
  ])
  func readsAndWrites(_ text: String, _ written: String) throws {
    let address = try #require(EndpointAddress(ip: text, port: 80))
    #expect(address.host == written)
    #expect(EndpointAddress(ip: written, port: 80) == address)
    #expect(address.description == (address.isIPv6 ? "[\(written)]:80" : "\(written):80"))
  }

  @Test(arguments: [
    "", ":", ":::", "1", "1.2.3", "1.2.3.4.5", "1.2.3.256", "01.2.3.4", "1.2.3.4 ", " 1.2.3.4", "1.2.3.-4",
    "+1.2.3.4",
    "1.2.3.", "1..3.4", "1:2:3:4:5:6:7", "1:2:3:4:5:6:7:8:9", "1::2::3", "12345::", "g::", "::1%1",
    "1:2:3:4:5:6:7:8::",
    "::1.2.3.4:5", "1.2.3.4::", "::+1", "::-1", "::-0", "[::1]", "1:", ":1", "::1:", "1:2:3:4:5:6:7:1.2.3.4",
    "\u{661}.2.3.4",
    String(repeating: ":", count: 100_000), String(repeating: "1:", count: 100_000),
  ])
  func rejectsInvalidAddresses(_ text: String) { #expect(EndpointAddress(ip: text, port: 1) == nil) }

  @Test
  func randomTextNeverTraps() {
    var random = QuickRandom(seed: 1)
    let alphabet = Array("0123456789abcdefg:.%[]/@ é")
    for _ in 0..<50_000 {
      let text = String(
        (0..<random.next(below: 20)).map { _ in alphabet[random.next(below: alphabet.count)] }
      )
      if let address = EndpointAddress(ip: text, port: 7) {
        #expect(EndpointAddress(ip: address.host, port: 7) == address)
      }
      _ = HostAndPort(text)
    }
  }

  @Test
  func describesAddressesOfEveryKind() {
    #expect(EndpointAddress.unix(path: "/a b").description == "unix:/a b")
    #expect(EndpointAddress.unixAbstract(name: "x").description == "unix-abstract:x")
    #expect(EndpointAddress.name(host: "h", port: 5).description == "h:5")
    let proxied = EndpointAddress.proxied(.ipv6(high: 0, low: 1, port: 5), by: .name(host: "p", port: 6))
    #expect(proxied.description == "[::1]:5 by p:6" && proxied.host == "::1" && proxied.port == 5)
    let named = EndpointAddress.secured(proxied, as: "a.example")
    #expect(named.description == "[::1]:5 by p:6 as a.example" && named.host == "::1" && named.port == 5)
    #expect(
      named.way == proxied && named.bare == .ipv6(high: 0, low: 1, port: 5) && named.tlsName == "a.example"
    )
    #expect(
      EndpointAddress.proxied(named, by: .ipv4(1, port: 1)).tlsName == "a.example" && proxied.tlsName == nil
    )
    #expect(EndpointAddress.secured(.ipv4(1, port: 1), as: "a").isIP && !named.isIP && !named.isIPv6)
    #expect(
      EndpointAddress.ipv6(high: 0xFE80 << 48, low: 1, scope: 3, port: 5).description == "[fe80::1%3]:5"
    )
    #expect(EndpointAddress.unix(path: "/a").port == nil)
  }

  @Test
  func attributesAreEqualInAnyOrder() {
    var left = EndpointAttributes()
    left[EndpointWeight.self] = 1
    left[EndpointHashKey.self] = "a"
    var right = EndpointAttributes()
    right[EndpointHashKey.self] = "b"
    right[EndpointWeight.self] = 1
    #expect(left != right)
    right[EndpointHashKey.self] = "a"
    #expect(left == right)
    #expect(left.hashValue == right.hashValue)
    right[EndpointWeight.self] = nil
    #expect(right[EndpointWeight.self] == nil)
    #expect(left != right)
  }
}

@Suite
struct TargetTests {
  private func target(_ text: String) throws -> Target {
    try Target(
      text,
      schemes: ["dns", "unix", "ipv4", "ipv6", "passthrough", "unix-abstract"],
      fallback: "dns"
    )
  }

  @Test(arguments: [
    ("greeter.example", "dns", "", "greeter.example"),
    ("greeter.example:80", "dns", "", "greeter.example:80"),
    ("dns:greeter.example", "dns", "", "greeter.example"),
    ("dns:///greeter.example:1", "dns", "", "greeter.example:1"),
    ("DNS://8.8.8.8:53/greeter.example", "dns", "8.8.8.8:53", "greeter.example"),
    ("unix:/a/b", "unix", "", "/a/b"),
    ("unix:///a/b", "unix", "", "a/b"), ("localhost:dns", "dns", "", "localhost:dns"),
    ("[::1]:80", "dns", "", "[::1]:80"),
  ])
  func splitsTargets(_ text: String, _ scheme: String, _ authority: String, _ endpoint: String) throws {
    let target = try target(text)
    #expect(target.scheme == scheme)
    #expect(target.authority == authority)
    #expect(target.endpoint == endpoint)
    #expect(target.text == text)
  }

  @Test(arguments: ["", "http://x/y", "dns://no-slash", String(repeating: "a", count: 5000)])
  func rejectsInvalidTargets(_ text: String) {
    let error = #expect(throws: GRPCStatus.self) { try target(text) }
    #expect(error?.code == .invalidArgument)
    #expect((error?.message?.utf8.count ?? 0) < 1000)
  }

  @Test(arguments: [
    ("unix:/a/b", [EndpointAddress.unix(path: "/a/b")]), ("unix:///a/b", [.unix(path: "/a/b")]),
    ("unix:b", [.unix(path: "b")]), ("unix-abstract:n", [.unixAbstract(name: "n")]),
    ("ipv4:10.0.0.1:1,10.0.0.2", [.ipv4(0x0A00_0001, port: 1), .ipv4(0x0A00_0002, port: 443)]),
    ("ipv6:[::1]:1,::2", [.ipv6(high: 0, low: 1, port: 1), .ipv6(high: 0, low: 2, port: 443)]),
    ("passthrough:///h:1", [.name(host: "h", port: 1)]),
    ("passthrough:10.0.0.1:5", [.ipv4(0x0A00_0001, port: 5)]),
  ])
  func addresses(_ text: String, _ addresses: [EndpointAddress]) throws {
    #expect(try AddressResolver.addresses(of: target(text)) == addresses)
  }

  @Test(arguments: [
    "unix:", "unix://authority/a", "unix:" + String(repeating: "a", count: 108), "unix-abstract:", "ipv4:",
    "ipv4:,",
    "ipv4:[::1]:1", "ipv6:10.0.0.1:1", "ipv4:host:1", "ipv4:10.0.0.1:70000", "passthrough:///",
    "passthrough:///:1",
  ])
  func invalidEndpointsAreRejected(_ text: String) throws {
    let target = try target(text)
    let error = #expect(throws: GRPCStatus.self) { try AddressResolver.addresses(of: target) }
    #expect(error?.code == .invalidArgument)
  }
}
