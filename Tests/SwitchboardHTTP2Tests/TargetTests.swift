import SwitchboardCall
import Testing

@testable import SwitchboardHTTP2

@Suite struct TargetTests {
  @Test(arguments: [
    ("example.com:80", "example.com", 80), ("dns:///example.com:80", "example.com", 80),
    ("dns:example.com", "example.com", 443), ("localhost", "localhost", 443),
  ])
  func namesAreRead(_ sample: (text: String, host: String, port: Int)) throws {
    let target = try Target(sample.text)
    #expect(target.place == .name(host: sample.host, port: sample.port))
  }

  @Test(arguments: [
    ("ipv4:10.0.0.1:80", ["ipv4:10.0.0.1:80"]), ("10.0.0.1:80", ["ipv4:10.0.0.1:80"]),
    ("ipv6:[::1]:80,[::2]:81", ["ipv6:[::1]:80", "ipv6:[::2]:81"]), ("[::1]:50051", ["ipv6:[::1]:50051"]),
    ("unix:/tmp/a", ["unix:/tmp/a"]), ("unix:///tmp/a", ["unix:/tmp/a"]),
    ("unix-abstract:a name/", ["unix-abstract:a name/"]),
  ])
  func addressesAreRead(_ sample: (text: String, addresses: [String])) throws {
    guard case .addresses(let addresses) = try Target(sample.text).place else {
      Issue.record("not taken for addresses")
      return
    }
    #expect(addresses.map(\.description) == sample.addresses)
  }

  @Test(arguments: [
    "", "ipv4:", "ipv4:nonsense:80", "ipv4:[::1]:80", "ipv6:1.2.3.4:80", "host:99999", "host:port", "unix:",
    "unix://relative", "unix-abstract:", "unix-abstract:a\0b", "a/b:80", "dns://8.8.8.8/host:80",
  ])
  func nonsenseIsRefused(_ text: String) {
    let expected = GRPCStatus(
      code: .invalidArgument,
      message: "not a target that can be connected to: \"\(text)\""
    )
    #expect(throws: expected) { try Target(text) }
  }
}

@Suite struct BackoffTests {
  @Test func growsToTheMaximumWithJitter() {
    var backoff = Backoff(initial: .seconds(1), maximum: .seconds(10))
    var random = SystemRandomNumberGenerator()
    var base = 1.0
    for _ in 0..<20 {
      let wait = backoff.next(using: &random) / .milliseconds(1) / 1000
      #expect(wait >= base * 0.8 - 0.001 && wait <= base * 1.2 + 0.001)
      base = min(base * 1.6, 10)
    }
    backoff.reset()
    #expect(backoff.next(using: &random) <= .milliseconds(1200))
  }

  @Test func anInitialBackoffAboveTheMaximumIsRefused() {
    var options = ChannelOptions()
    options.connectInitialBackoff = .seconds(10)
    options.connectMaxBackoff = .seconds(5)
    #expect(throws: GRPCStatus.self) { try Channel(target: "localhost:1", options: options) }
  }
}
