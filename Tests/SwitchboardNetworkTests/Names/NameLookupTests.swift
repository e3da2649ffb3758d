import CallTestSupport
import Foundation
import HTTP2TestSupport
import SwitchboardCall
import TestSupport
import Testing

@testable import SwitchboardNetwork

/// Lookups from a real name server.
@Suite(.mayBlock, .timeLimit(.minutes(5))) struct NameLookupTests {
  @Test func bothFamiliesAreFoundWithTheirLifetime() async throws {
    let server = try Dnsmasq(
      hosts: """
        127.0.0.3 one.test
        127.0.0.4 one.test
        ::1 one.test
        127.0.0.5 four.test
        2001:db8::1 six.test

        """
    )
    let lookups = try NameLookups(server.authority)
    let one = try await lookups.addresses(of: "one.test", port: 4711).get()
    #expect(
      Set(one.addresses.map(\.description)) == [
        "ipv4:127.0.0.3:4711", "ipv4:127.0.0.4:4711", "ipv6:[::1]:4711",
      ]
    )
    // RFC 6724 prefers IPv6 where both are reachable.
    #expect(one.addresses.first?.description == "ipv6:[::1]:4711")
    #expect(one.timeToLive == .seconds(77))
    #expect(try await lookups.addresses(of: "four.test").get().addresses.map(\.host) == ["127.0.0.5"])
    #expect(try await lookups.addresses(of: "SIX.test.").get().addresses.map(\.host) == ["2001:db8::1"])
    await lookups.untilIdle()
  }

  @Test func aServerThatDoesNotStartSaysWhy() {
    #expect {
      _ = try Dnsmasq(hosts: "", ["--no-such-option"])
    } throws: { error in
      "\(error)".contains("dnsmasq does not start: ") && "\(error)".contains("bad command line options")
    }
  }

  @Test func theShortestLifetimeCounts() async throws {
    let server = try Dnsmasq(
      hosts: "127.0.0.3 one.test\n",
      ["--cname=alias.test,one.test,5", "--host-record=short.test,127.0.0.1,9"]
    )
    let lookups = try NameLookups(server.authority)
    let alias = try await lookups.addresses(of: "alias.test").get()
    #expect(alias.addresses.map(\.host) == ["127.0.0.3"] && alias.timeToLive == .seconds(5))
    #expect(try await lookups.addresses(of: "short.test").get().timeToLive == .seconds(9))
  }

  /// It is this machine, whatever a name server says.
  @Test(arguments: ["localhost", "LOCALHOST", "localhost.", "LocalHost."])
  func localhostIsNotAskedOfOthers(_ name: String) async throws {
    let server = try Dnsmasq(hosts: "127.0.0.3 one.test\n", ["--address=/localhost/203.0.113.9"])
    let lookups = try NameLookups(server.authority)
    let hosts = try await lookups.addresses(of: name).get().addresses.map(\.host)
    #expect(!hosts.isEmpty && Set(hosts).isSubset(of: ["127.0.0.1", "::1"]), "\(hosts)")
    let below = try await lookups.addresses(of: "a.localhost").get().addresses.map(\.host)
    #expect(below == ["203.0.113.9"])
  }

  @Test func textRecordsAreJoined() async throws {
    let long = String(repeating: "x", count: 200)
    let server = try Dnsmasq(
      hosts: "127.0.0.3 one.test\n",
      [
        "--txt-record=_grpc_config.test,grpc_config=\(long),\(long),end",
        "--txt-record=_grpc_config.test,other",
      ]
    )
    let lookups = try NameLookups(server.authority)
    let texts = try await lookups.texts(of: "_grpc_config.test").get()
    #expect(Set(texts) == ["grpc_config=\(long)\(long)end", "other"])
    let failures = [await lookups.texts(of: "one.test"), await lookups.texts(of: "nothing.test")].map {
      result in
      if case .failure(let status) = result { status.message } else { "found" }
    }
    #expect(
      failures == [
        "one.test was not found: the name service \(server.authority) has no such records for it",
        "nothing.test was not found: the name service \(server.authority) does not know it",
      ]
    )
  }

  /// More than fits into a datagram, so that they are asked for again over TCP.
  @Test func manyAddressesAreFound() async throws {
    let hosts = (0..<700).map { "127.\($0 / 250 + 1).1.\($0 % 250 + 1)" }
    let server = try Dnsmasq(hosts: hosts.map { "\($0) many.test\n" }.joined())
    let lookups = try NameLookups(server.authority)
    let answer = try await lookups.addresses(of: "many.test").get()
    #expect(answer.addresses.count == 700)
    #expect(Set(answer.addresses.map(\.host)) == Set(hosts))
  }

  @Test func failuresNameTheNameServer() async throws {
    let server = try Dnsmasq(hosts: "127.0.0.3 one.test\n", ["--txt-record=text.test,there"])
    let lookups = try NameLookups(server.authority)
    let service = "the name service \(server.authority)"
    #expect(
      await lookups.failure(of: "nothing.test") == "nothing.test was not found: \(service) does not know it"
    )
    #expect(
      await lookups.failure(of: "text.test")
        == "text.test was not found: \(service) has no such records for it"
    )
    // It refuses to answer for other domains.
    #expect(
      await lookups.failure(of: "one.example")
        == "one.example was not found: \(service) cannot be reached, or reported a failure"
    )
    await lookups.untilIdle()
  }

  @Test(arguments: [
    "", ".", "a\0b", "a b", "a..b", "1.2.3", "1.2.3.256", String(repeating: "a", count: 64),
    String(repeating: "ab.", count: 90),
  ])
  func invalidHostNamesAreNotLookedUp(_ name: String) async throws {
    let server = try ScriptedNameServer { _ in [] }
    let lookups = try NameLookups(server.authority)
    #expect(await lookups.failure(of: name) == "\(name) was not found: it is not a host name")
    #expect(server.queries.value == 0)
  }

  @Test func noServerIsNeededForLocalhostAndNumbers() async throws {
    let server = try ScriptedNameServer { _ in [] }
    for lookups in [try NameLookups(server.authority), try NameLookups { NameClient(on: $0) }] {
      let localhost = try await lookups.addresses(of: "localhost").get()
      #expect(localhost.addresses.contains { $0.host == "127.0.0.1" } && localhost.timeToLive == nil)
      let number = try await lookups.addresses(of: "10.1.2.3", port: 0).get()
      #expect(number.addresses.map(\.description) == ["ipv4:10.1.2.3:0"] && number.timeToLive == nil)
      #expect(try await lookups.addresses(of: "2001:db8::5").get().addresses.map(\.host) == ["2001:db8::5"])
    }
    #expect(server.queries.value == 0)
  }

  @Test func manyLookupsAtOnceShareTheirSockets() async throws {
    let server = try Dnsmasq(hosts: (0..<50).map { "127.0.1.\($0) host\($0).test\n" }.joined())
    let lookups = try NameLookups(server.authority)
    try await withThrowingTaskGroup { group in
      for number in 0..<1000 {
        group.addTask {
          let answer = try await lookups.addresses(of: "host\(number % 50).test").get()
          #expect(answer.addresses.map(\.host) == ["127.0.1.\(number % 50)"])
        }
      }
      try await group.waitForAll()
    }
    await lookups.untilIdle()
  }

  @Test func serversAreQueriedInTurn() async throws {
    let silent = try ScriptedNameServer { _ in [] }
    let server = try Dnsmasq(hosts: "127.0.0.3 one.test\n")
    let lookups = try NameLookups("\(silent.authority),\(server.authority)", timeout: .seconds(3))
    #expect(try await lookups.addresses(of: "one.test").get().addresses.count == 1)
    #expect(silent.queries.value > 0)
  }

  @Test(arguments: [
    "", ",", "1.2.3.4,", "name", "name:53", "1.2.3.4:0", "1.2.3.4:65536", "1.2.3.4:x", "1.2.3",
    "fe80::1%eth0",
    "[::1", "1.2.3.4 ", "1.2.3.4/24", Array(repeating: "1.2.3.4", count: 9).joined(separator: ","),
  ])
  func invalidAuthoritiesAreRefused(_ authority: String) async throws {
    let failure = await status { _ = try NameLookups(authority) }
    #expect(failure?.code == .invalidArgument)
    #expect(failure?.message?.hasSuffix("\"\(authority)\"") == true)
  }

  @Test func authoritiesAreRead() throws {
    let servers = try NameAuthority.servers("1.2.3.4,1.2.3.4:54,::1,[::1]:55")
    #expect(servers.map(\.endpoint) == ["1.2.3.4:53", "1.2.3.4:54", "[::1]:53", "[::1]:55"])
  }

  /// Nobody listens on port 53 of these addresses.
  @Test func theConfigurationIsReadAgainWhenItChanges() async throws {
    let path = try temporaryFile(Array("nameserver 127.99.0.1\n".utf8), suffix: "conf")
    let lookups = try NameLookups { NameClient(on: $0, timeout: .seconds(1), configuration: path) }
    func prefix(_ servers: String) -> String { "one.test was not found: the name service \(servers) " }
    #expect(await lookups.failure(of: "one.test")?.hasPrefix(prefix("127.99.0.1:53")) == true)
    try "nameserver 127.99.0.2\nnameserver 127.99.0.3\n".write(
      toFile: path,
      atomically: true,
      encoding: .utf8
    )
    #expect(await lookups.failure(of: "one.test")?.hasPrefix(prefix("127.99.0.2:53, 127.99.0.3:53")) == true)
  }

  /// Although a lookup is always in progress.
  @Test func theConfigurationIsReadAgainDuringLookups() async throws {
    let path = try temporaryFile(Array("nameserver 127.99.0.1\n".utf8), suffix: "conf")
    let lookups = try NameLookups { NameClient(on: $0, timeout: .seconds(1), configuration: path) }
    lookups.with { client in
      client.addresses(of: "one.test", port: 1) { _ in }
      try? Data("nameserver 127.99.0.44\n".utf8).write(to: URL(filePath: path))
      client.addresses(of: "two.test", port: 1) { result in
        if case .failure(let status) = result { #expect(status.message?.contains("127.99.0.44:53") == true) }
      }
    }
    await lookups.untilIdle()
  }
}
