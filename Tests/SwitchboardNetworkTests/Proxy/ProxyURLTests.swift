import SwitchboardCall
import SwitchboardNetwork
import SwitchboardTransport
import Testing

@Suite struct ProxyURLTests {
  private static let alice = ProxyCredentials(user: "alice", password: "")

  @Test(arguments: [
    ("http://proxy:3128", ProxyOption.http(host: "proxy", port: 3128)),
    ("HTTP://proxy:3128/", .http(host: "proxy", port: 3128)),
    ("proxy:3128", .http(host: "proxy", port: 3128)), ("proxy", .http(host: "proxy", port: 80)),
    ("http://[::1]", .http(host: "::1", port: 80)), ("http://[::1]:8080", .http(host: "::1", port: 8080)),
    ("socks5://proxy", .socks5(host: "proxy", port: 1080)),
    ("socks5h://proxy:9", .socks5(host: "proxy", port: 9)),
    ("http://alice@proxy", .http(host: "proxy", port: 80, credentials: alice)),
    ("alice:@proxy:1", .http(host: "proxy", port: 1, credentials: alice)),
    ("http://@proxy", .http(host: "proxy", port: 80)),
    (
      "http://a%40b:p%3a%25:@w@proxy:1",
      .http(host: "proxy", port: 1, credentials: ProxyCredentials(user: "a@b", password: "p:%:@w"))
    ),
    (
      "socks5://a%3ab:%C3%A9@proxy:1",
      .socks5(host: "proxy", port: 1, credentials: ProxyCredentials(user: "a:b", password: "é"))
    ),
  ])
  func urlsAreRead(_ sample: (url: String, option: ProxyOption)) throws {
    #expect(try ProxyOption(sample.url) == sample.option)
  }

  @Test(arguments: [
    ("", "it has no host"), ("http://", "it has no host"), ("http://:80", "it has no host"),
    ("http://secret@", "it has no host"),
    ("https://secret@proxy", "the scheme of its URL is neither http nor socks5"),
    ("socks4://proxy", "the scheme of its URL is neither http nor socks5"),
    ("http://proxy:", "its URL has a port that is not a number"),
    ("http://user:secret", "its URL has a port that is not a number"),
    ("http://proxy:+1", "its URL has a port that is not a number"),
    ("http://proxy:99999999999999999999", "its URL has a port that is not a number"),
    ("http://proxy:0", "its port is not within 1...65535"),
    ("http://proxy:65536", "its port is not within 1...65535"),
    ("http://::1:80", "its URL has an IPv6 address without brackets"),
    ("http://user:1/secret@proxy", "its URL has a path"), ("http://proxy/path", "its URL has a path"),
    ("http://proxy?query", "its URL has a path"), ("http://proxy#fragment", "its URL has a path"),
    ("http://user:sec%ret@proxy", "its URL has credentials that are not percent-encoded"),
    ("http://user:secret%2@proxy", "its URL has credentials that are not percent-encoded"),
    ("http://user:secret%ff@proxy", "its URL has credentials that are not percent-encoded"),
    ("http://pro xy", "its host contains spaces or control characters"),
    ("http://proxy\r\nsecret", "its host contains spaces or control characters"),
    ("http://a%3ab:secret@proxy", "its user name contains a colon"),
    ("http://user:secret%0a@proxy", "its credentials contain control characters"),
    (
      "socks5://:secret@proxy",
      "SOCKS 5 requires a user name of 1 to 255 bytes and a password of at most 255"
    ),
  ])
  func errorsForInvalidURLsShowNoSecrets(_ sample: (url: String, reason: String)) {
    let status = GRPCStatus(code: .invalidArgument, message: "the proxy cannot be used: \(sample.reason)")
    #expect(throws: status) { try ProxyOption(sample.url) }
  }
}
