import SwitchboardBalancing
import SwitchboardCall
import Testing

@testable import SwitchboardNetwork
@testable import SwitchboardTransport

@Suite struct ChannelDestinationTests {
  private func destination(_ target: String, _ options: ChannelOptions = ChannelOptions()) throws(GRPCStatus)
    -> ChannelDestination
  {
    try ChannelDestination(target, options, .ofProcess)
  }

  @Test func theTargetNamesTheServer() throws {
    let named = try destination("dns:///shop.example:443")
    #expect(named.serverName == "shop.example:443" && named.authority == Array("shop.example:443".utf8))
    #expect(named.target.canonical == "dns:///shop.example:443" && named.tls != nil)
  }

  @Test func aTargetOnThisMachineHasNoTLSUnlessItIsAskedFor() throws {
    #expect(try destination("unix:/nowhere").tls == nil)
    var options = ChannelOptions()
    options.security = .tls()
    #expect(try destination("localhost:1", options).tls != nil)
  }

  @Test func aWrongTargetIsRefused() {
    #expect(throws: GRPCStatus.self) { _ = try destination("") }
  }

  @Test func manyAddressesAreNotAllShown() throws {
    let addresses = (1...5).compactMap { EndpointAddress(ip: "10.0.0.\($0)", port: 443) }
    #expect(addresses.count == 5)
    let shown = try destination("shop.example:443").shown(addresses)
    #expect(shown.hasPrefix("shop.example:443 (") && shown.hasSuffix(" and 2 more)"))
  }
}
