import CertificateSupport
import ServerTestSupport
import SwitchboardBalancing
import SwitchboardCall
import Testing

@testable import SwitchboardXDS

/// How the servers of a cluster are secured, while the control plane changes its mind.
@Suite struct SecuredServersTests {
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

  /// `provider` has the roots of the cluster's servers.
  private func cluster(_ provider: String?) -> ClusterResource {
    var cluster = ClusterResource(name: "c", kind: .endpoints("e"), policy: .whole([]))
    cluster.security = provider.map { ClusterSecurity(roots: .provider($0)) }
    return cluster
  }

  /// Connections are made anew when another provider has the roots, or none, and the contexts of the same one stay.
  @Test func whatIsSecuredInAnotherWayIsMadeAnew() throws {
    var servers = SecuredServers()
    let steps: [(provider: String?, isNew: Bool)] = [
      (nil, false), (nil, false), ("a", true), ("a", false), ("b", true), (nil, true), ("a", true),
    ]
    for (position, step) in steps.enumerated() {
      let before = servers.security
      #expect(try servers.update(cluster(step.provider), contexts) == step.isNew, "step \(position)")
      #expect((servers.security == nil) == (step.provider == nil), "step \(position)")
      #expect((servers.security == before) == !step.isNew, "step \(position)")
    }
  }

  @Test func withoutContextsTheChannelsOwnSecurityCounts() throws {
    var servers = SecuredServers()
    #expect(try !servers.update(cluster("a"), nil) && servers.security == nil)
  }
}
