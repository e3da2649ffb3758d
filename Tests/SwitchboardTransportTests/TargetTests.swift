import CallTestSupport
import SwitchboardBalancing
import SwitchboardCall
import Testing

@testable import SwitchboardNetwork
@testable import SwitchboardTransport

/// What channels take for targets. How each is read is tested with the resolvers.
@Suite struct TargetTests {
  @Test(arguments: [
    ("example.com:80", "example.com:80"), ("dns:///example.com:80", "example.com:80"),
    ("dns:example.com", "example.com"), ("localhost", "localhost"), ("10.0.0.1:80", "10.0.0.1:80"),
    ("ipv4:10.0.0.1:80,10.0.0.2:80", "10.0.0.1:80"), ("ipv6:[::1]:80,[::2]:81", "[::1]:80"),
    ("[::1]:50051", "[::1]:50051"), ("unix:/tmp/a", "localhost"), ("unix:///tmp/a", "localhost"),
    ("unix-abstract:a", "localhost"), ("passthrough:///a:80", "a:80"),
  ])
  func targetsNameTheirServers(_ sample: (text: String, name: String)) throws {
    let transport = try HTTP2ClientTransport(
      target: sample.text,
      options: ChannelOptions(),
      group: try LoopGroup()
    )
    #expect(transport.destination.serverName == sample.name)
  }

  @Test(arguments: [
    ("localhost", true), ("dns:///LOCALHOST:80", true), ("[::1]:80", true), ("unix:/tmp/a", true),
    ("passthrough:///localhost:80", true), ("passthrough:///127.0.0.1:80", true),
    ("passthrough:///shop.example:80", false), ("shop.example", false),
    ("ipv4:127.0.0.1:1,10.0.0.1:1", false), ("ipv4:0.0.0.0:1", true), ("[::]:1", true), ("0.0.0.1:1", false),
  ])
  func onlyThisMachineIsCalledWithoutTLS(_ sample: (target: String, isPlaintext: Bool)) throws {
    let transport = try HTTP2ClientTransport(
      target: sample.target,
      options: ChannelOptions(),
      group: try LoopGroup()
    )
    #expect((transport.destination.tls == nil) == sample.isPlaintext)
  }

  @Test(arguments: [
    (
      "http://shop.example", "write \"dns:///shop.example:80\", and set ChannelOptions.security to .plaintext"
    ),
    (
      "HTTP://shop.example:8080/api?x=1",
      "write \"dns:///shop.example:8080\", and set ChannelOptions.security to .plaintext"
    ),
    ("https://shop.example/", "write \"dns:///shop.example:443\", and set ChannelOptions.security to .tls()"),
    ("https://[::1]:8443", "write \"dns:///[::1]:8443\", and set ChannelOptions.security to .tls()"),
    ("grpcs://shop.example", "write \"dns:///shop.example:443\", and set ChannelOptions.security to .tls()"),
    ("https://", "write \"dns:///host:port\""),
    ("shop.example:443/api", "it has a path, which a target cannot have; write \"shop.example:443\""),
    ("dns:///shop.example:443/api", "it has a path, which a target cannot have; write \"shop.example:443\""),
    ("dns://shop.example:443", "it has two slashes; write \"dns:///shop.example:443\", with three"),
    ("shop.example:", "the port is missing after the colon; write \"shop.example:443\""),
    (":50051", "the host is missing before the port; write \"localhost:50051\""),
    ("shop.example:grpc", "\"grpc\" is not a port, a number from 0 to 65535"),
    ("shop.example:70000", "\"70000\" is not a port"),
    ("passthrough:///shop:x", "\"x\" is not a port"),
    ("::1", "an IPv6 address needs brackets before a port; write \"[::1]:443\", or \"ipv6:[::1]:443\""),
    ("::1:50051", "write \"[::1]:50051\", or \"ipv6:[::1]:50051\""),
    ("dns:///2001:db8::1:80", "write \"[2001:db8::1]:80\", or \"ipv6:[2001:db8::1]:80\""),
    ("passthrough:::1", "write \"[::1]:443\", or \"ipv6:[::1]:443\""),
    ("shop:80:81", "it has more than one colon; write \"host:port\""),
    ("ipv4:localhost", "\"localhost\" is a name and not an address; write \"dns:///localhost:443\""),
    ("ipv6:shop.example:80", "write \"dns:///shop.example:80\""),
    ("127.1:80", "\"127.1\" is not an address of IPv4, which has four numbers; write \"127.0.0.1:80\""),
    ("dns:///10.0.7", "write \"10.0.0.7:443\""),
    ("ipv4:10.0.0:80", "\"10.0.0:80\" is not an address"),
    ("127.0.0.1:1,127.0.0.1:2", "several addresses are \"ipv4:ADDRESS:PORT,ADDRESS:PORT\""),
    ("dns:///a:1,b:2", "it has a comma"),
    ("ipv:///10.0.0.1:80", "no resolver is registered for the scheme ipv (did you mean ipv4?)"),
    (
      "unix://run/shop.sock", "write \"unix:///run/shop.sock\", or \"unix:run/shop.sock\" for a relative path"
    ),
    ("127.0.0.1:0", "port 0 is for servers, for which the system chooses another"),
    ("localhost:0", "write that one, which bind returns"), ("ipv6:[::1]:0", "port 0 is for servers"),
    ("xds:///shop", "set ChannelOptions.resolvers to [XDSResolver()], from the product SwitchboardXDS"),
    ("pasthrough:///a:80", "for the scheme pasthrough (did you mean passthrough?)"),
    ("ipv4:127.0.0.1:1, 127.0.0.1:2", "\" 127.0.0.1:2\" has a space; between addresses"),
  ])
  func aMistakenTargetIsAnsweredWithTheRightOne(_ sample: (text: String, hint: String)) throws {
    let group = try LoopGroup()
    #expect {
      _ = try HTTP2ClientTransport(target: sample.text, options: ChannelOptions(), group: group)
    } throws: { error in
      (error as? GRPCStatus)?.message?.contains(sample.hint) == true
    }
  }

  @Test(arguments: ["passthrough:///127.0.0.77", "dns:///127.0.0.77", "127.0.0.77"])
  func aMissingPortIsNamedWhereNothingListens(_ target: String) async throws {
    func failure(_ target: String) async throws -> String? {
      let channel = try Channel(target: target)
      let failure = await status { _ = try await Caller(channel: channel).get() }
      await channel.shutDown(grace: .zero)
      return failure?.message
    }
    let reason = "connection refused"
    let hint = "the target has no port, and the default is 443, as in \(target):443"
    #expect(try await failure(target)?.hasSuffix("127.0.0.77:443): \(reason) (\(hint))") == true)
    #expect(try await failure("\(target):443")?.hasSuffix("127.0.0.77:443: \(reason)") == true)
  }

  @Test(arguments: [
    "", "ipv4:", "ipv4:nonsense:80", "ipv4:[::1]:80", "ipv6:1.2.3.4:80", "host:99999", "host:port", "unix:",
    "unix://relative", "a/b:80", "xds:///host:80", "dns://8.8.8.8", String(repeating: "a", count: 5000),
  ])
  func invalidTargetsAreRejected(_ text: String) throws {
    let group = try LoopGroup()
    #expect {
      _ = try HTTP2ClientTransport(target: text, options: ChannelOptions(), group: group)
    } throws: { error in
      guard let status = error as? GRPCStatus else { return false }
      return status.code == .invalidArgument
        && status.message?.contains("not a target that can be connected to: \"\(text.prefix(40))") == true
    }
  }
}

@Suite struct BackoffOptionTests {
  @Test func anInitialBackoffAboveTheMaximumIsRefused() {
    var options = ChannelOptions()
    options.connectInitialBackoff = .seconds(10)
    options.connectMaxBackoff = .seconds(5)
    #expect(throws: GRPCStatus.self) { try Channel(target: "localhost:1", options: options) }
  }
}
