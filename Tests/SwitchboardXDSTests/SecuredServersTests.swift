import CertificateSupport
import ServerTestSupport
import SwitchboardBalancing
import SwitchboardCall
import Testing

@testable import SwitchboardXDS

/// How servers are secured, by their addresses, while clusters come and go.
@Suite struct SecuredServersTests {
  private let address = EndpointAddress.ipv4(0x7F00_0001, port: 1)
  private let contexts = ClusterContexts(
    providers: CertificateProviders(
      Dictionary(
        uniqueKeysWithValues: ["a", "b"].map {
          let set = CertificateSet(trustRoots: TestCertificates.authority)
          return ($0, .own(CertificateProviderConfig.Own(provider: MemoryCertificates(set))))
        }
      ),
      .quiet
    ),
    logger: .quiet
  )

  /// A cluster whose only server is at the address; `provider` has its roots.
  private func leaf(_ name: String, _ provider: String?) -> LeafConfig {
    var cluster = ClusterResource(name: name, kind: .endpoints("e"), policy: .whole([]))
    cluster.security = provider.map { ClusterSecurity(roots: .provider($0)) }
    let place = EndpointsResource.Place(name: "p", weight: 1, endpoints: [Endpoint([address])])
    return LeafConfig(cluster: cluster, endpoints: EndpointsResource(priorities: [[place]], drops: []))
  }

  /// Each step: the clusters, whether connections are to be made anew, and who secures the address then.
  private func check(_ steps: [(leaves: [LeafConfig], isNew: Bool, by: String?)]) throws {
    var servers = SecuredServers()
    var known: [String: SubchannelSecurity] = [:]
    for (position, step) in steps.enumerated() {
      let isNew = try servers.update(step.leaves, contexts)
      #expect(isNew == step.isNew, "step \(position)")
      let found = servers.security(of: [address])
      #expect((found == nil) == (step.by == nil), "step \(position)")
      guard let found, let name = step.by else { continue }
      #expect(known.allSatisfy { ($0.value == found) == ($0.key == name) }, "step \(position)")
      known[name] = found
    }
  }

  @Test func anAddressThatCountsAsAnotherClustersIsSecuredAnew() throws {
    let both = [leaf("first", "a"), leaf("second", "b")]
    try check([
      (both, false, "a"), (both, false, "a"),
      // The second cluster's connections were made as the first one says.
      ([both[1]], true, "b"), ([both[1]], false, "b"),
    ])
  }

  @Test func anAddressThatWasPlainIsSecuredAnew() throws {
    let plain = leaf("first", nil)
    try check([
      ([plain], false, nil), ([plain, leaf("second", "b")], true, "b"), ([plain], true, nil),
    ])
  }
}
