import SwitchboardBalancing
import Testing

@testable import SwitchboardXDS

@Suite struct ServerHostsTests {
  private func endpoint(_ numbers: [UInt32], _ host: String?) -> Endpoint {
    var endpoint = Endpoint(numbers.map { .ipv4($0, port: 1) })
    endpoint.attributes[EndpointHostName.self] = host
    return endpoint
  }

  private func leaf(
    _ endpoints: [Endpoint],
    _ kind: ClusterResource.Kind = .endpoints("c"),
    isTrusted: Bool = true
  ) -> LeafConfig {
    var cluster = ClusterResource(name: "c", kind: kind, policy: .whole([]))
    cluster.isTrusted = isTrusted
    let places = endpoints.map { EndpointsResource.Place(name: "p", weight: 1, endpoints: [$0]) }
    var endpoints = EndpointsResource(priorities: [places], drops: [], isTrusted: isTrusted)
    // What was looked up comes from nobody.
    if case .name = kind { endpoints = EndpointsResource(priorities: [places], drops: []) }
    return LeafConfig(cluster: cluster, endpoints: endpoints)
  }

  private func host(_ hosts: ServerHosts, _ number: UInt32) -> String? {
    hosts.host(of: .ipv4(number, port: 1)).map { String(decoding: $0, as: UTF8.self) }
  }

  @Test func allAddressesOfAnEndpointHaveItsHost() {
    let hosts = ServerHosts()
    let shared = endpoint([3], "b")
    hosts.update(
      leaf([
        endpoint([1, 2], "a"), shared, Endpoint([.ipv4(4, port: 1)], attributes: shared.attributes),
        endpoint([5], nil), Endpoint([.ipv4(6, port: 1)]),
      ])
    )
    #expect((1...6).map { host(hosts, $0) } == ["a", "a", "b", "b", nil, nil])
    // What is not there any more is forgotten.
    hosts.update(leaf([endpoint([2], "c")]))
    #expect((1...2).map { host(hosts, $0) } == [nil, "c"])
  }

  /// The route may be another control plane's, which is trusted.
  @Test(
    arguments: [.endpoints("c"), ClusterResource.Kind.name(.name(host: "a.example", port: 80))],
    [true, false]
  )
  func aNameIsNoHostIfItsControlPlaneIsNotTrusted(_ kind: ClusterResource.Kind, _ isTrusted: Bool) {
    let hosts = ServerHosts()
    hosts.update(leaf([endpoint([1], "a.example:80")], kind, isTrusted: isTrusted))
    #expect(host(hosts, 1) == (isTrusted ? "a.example:80" : nil))
  }
}
