import SwitchboardCall
import SwitchboardPatterns
import SwitchboardProtobuf
import SwitchboardText
import Testing
import XDSMessages

@testable import SwitchboardXDS

/// What a cluster may say of its security, and which names of servers match.
@Suite struct SecurityResourceTests {
  private typealias Upstream = Envoy_Extensions_TransportSockets_Tls_V3_UpstreamTlsContext

  private func read(_ change: (inout Upstream) -> Void) throws -> Result<Resource, ResourceFault> {
    var upstream = Upstream.with {
      $0.commonTlsContext.validationContext.caCertificateProviderInstance.instanceName = "p"
    }
    change(&upstream)
    let config = try Google_Protobuf_Any(message: upstream)
    let cluster = Envoy_Config_Cluster_V3_Cluster.with {
      $0.name = "c"
      $0.type = .eds
      $0.edsClusterConfig.edsConfig.ads = .init()
      $0.transportSocket.name = "envoy.transport_sockets.tls"
      $0.transportSocket.typedConfig = config
    }
    let reader = ResourceReader(certificateProviders: [ExactText("p"), ExactText("q")])
    let reads = reader.read([try Google_Protobuf_Any(message: cluster)], of: .cluster)
    return try #require(reads.first).result
  }

  private func security(_ change: (inout Upstream) -> Void = { _ in }) throws -> ClusterSecurity? {
    guard case .cluster(let cluster) = try read(change).get() else { return nil }
    return cluster.security
  }

  private func fault(_ change: (inout Upstream) -> Void) throws -> String? {
    guard case .failure(let fault) = try read(change) else { return nil }
    let path = "transport_socket.typed_config."
    return fault.description.hasPrefix(path)
      ? String(fault.description.dropFirst(path.count)) : fault.description
  }

  @Test func whatIsUsed() throws {
    #expect(try security() == ClusterSecurity(roots: .provider("p")))
    let all = try security {
      $0.sni = "a.example"
      $0.commonTlsContext.tlsCertificateProviderInstance.instanceName = "q"
      $0.commonTlsContext.validationContext.matchSubjectAltNames = [.with { $0.exact = "b" }]
    }
    let rule = ServerNameRule(text: .exact(Array("b".utf8)), ignoresCase: false)
    #expect(
      all == ClusterSecurity(roots: .provider("p"), identity: "q", names: [rule], sentName: "a.example")
    )
    let automatic = try security {
      $0.autoHostSni = true
      $0.autoSniSanValidation = true
    }
    #expect(automatic == ClusterSecurity(roots: .provider("p"), sendsHosts: true, expectsSentName: true))
    let combined = try security {
      let validation = $0.commonTlsContext.validationContext
      $0.commonTlsContext.combinedValidationContext.defaultValidationContext = validation
    }
    #expect(combined == ClusterSecurity(roots: .provider("p")))
    #expect(
      try security { $0.commonTlsContext.validationContext = .with { $0.systemRootCerts = .init() } }
        == ClusterSecurity(roots: .ofSystem)
    )
    // A provider counts before the system's roots (gRFC A82).
    #expect(
      try security { $0.commonTlsContext.validationContext.systemRootCerts = .init() }?.roots
        == .provider("p")
    )
  }

  @Test func whatIsRefused() throws {
    let context = "common_tls_context."
    let validation = "\(context)validation_context."
    #expect(
      try fault { $0.commonTlsContext.validationContextType = nil }
        == "\(context)validation_context: is missing"
    )
    #expect(
      try fault { $0.commonTlsContext.validationContext = .init() }
        == "\(validation)ca_certificate_provider_instance: is missing"
    )
    #expect(
      try fault { $0.commonTlsContext.validationContext.caCertificateProviderInstance.instanceName = "x" }
        == "\(validation)ca_certificate_provider_instance.instance_name: "
        + "names none of the certificate providers of the bootstrap, or one whose plugin is unknown: x"
    )
    #expect(
      try fault { $0.commonTlsContext.tlsCertificateProviderInstance.instanceName = "" }?.hasPrefix(
        "\(context)tls_certificate_provider_instance.instance_name: names none"
      ) == true
    )
    #expect(
      try fault { $0.commonTlsContext.tlsParams = .init() } == "\(context)tls_params: are not supported"
    )
    #expect(
      try fault { $0.commonTlsContext.customHandshaker = .init() }
        == "\(context)custom_handshaker: is not supported"
    )
    #expect(
      try fault { $0.commonTlsContext.tlsCertificates = [.init()] }
        == "\(context)tls_certificates: are not supported"
    )
    #expect(
      try fault { $0.commonTlsContext.tlsCertificateSdsSecretConfigs = [.init()] }?.hasSuffix("not supported")
        == true
    )
    #expect(
      try fault { $0.commonTlsContext.validationContext.crl = .init() }
        == "\(validation)crl: is not supported"
    )
    #expect(
      try fault { $0.commonTlsContext.validationContext.verifyCertificateHash = ["x"] }
        == "\(validation)verify_certificate_hash: is not supported"
    )
    #expect(
      try fault { $0.commonTlsContext.validationContext.matchSubjectAltNames = [.init()] }
        == "\(validation)match_subject_alt_names[0]: has none of the rules that are known"
    )
    #expect(
      try fault {
        $0.commonTlsContext.validationContext.matchSubjectAltNames = [.with { $0.safeRegex.regex = "(" }]
      } == "\(validation)match_subject_alt_names[0].safe_regex.regex: is no pattern of RE2: missing ): ("
    )
    #expect(
      try fault { $0.sni = String(repeating: "a", count: 256) } == "sni: has more than 255 bytes"
    )
  }

  /// What was sent counts instead of the rules, and the rules if nothing was.
  @Test func theNameThatWasSentMayBeExpected() {
    var security = ClusterSecurity(roots: .ofSystem, names: [rule("b.example")])
    #expect(security.rules(sent: "a.example") == [rule("b.example")])
    security.expectsSentName = true
    #expect(security.rules(sent: nil) == [rule("b.example")])
    let rules = security.rules(sent: "a.example")
    #expect(rules.count == 1 && rules[0].matches(.dns("a.example")) && !rules[0].matches(.dns("b.example")))
    #expect(!rules[0].matches(.uri("a.example")))
  }

  private func rule(_ text: String, ignoresCase: Bool = false) -> ServerNameRule {
    ServerNameRule(text: .exact(Array(text.utf8)), ignoresCase: ignoresCase)
  }

  @Test(arguments: [
    ("a.example", "a.example", true), ("A.example", "a.EXAMPLE", true), ("a.example.", "a.example", true),
    ("a.example", "*.example", false), ("a.b.example", "*.b.example", true),
    ("b.example", "*.b.example", false),
    ("x.a.b.example", "*.b.example", false), (".b.example", "*.b.example", false),
    ("a.b.example", "a*.b.example", false),
    ("*.b.example", "*.b.example", false), ("a.example", "", false), ("", "", false),
    ("a.b.example", "*.*.example", false),
  ])
  func namesOfHosts(_ host: String, _ name: String, _ isMatch: Bool) {
    #expect(rule(host).matches(.dns(name)) == isMatch)
  }

  @Test func otherNames() throws {
    #expect(rule("spiffe://a").matches(.uri("spiffe://a")) && !rule("spiffe://a").matches(.uri("spiffe://A")))
    #expect(rule("a@b").matches(.email("a@b")) && rule("10.0.0.1").matches(.ipAddress("10.0.0.1")))
    let prefix = ServerNameRule(text: .prefix([]), ignoresCase: false)
    #expect(prefix.matches(.uri("x")) && !prefix.matches(.uri("")) && !prefix.matches(.dns("")))
    let host = ServerNameRule(text: .exact(Array("a".utf8)), ignoresCase: false, isOfDNS: true)
    #expect(host.matches(.dns("a")) && !host.matches(.uri("a")) && !host.matches(.email("a")))
    let pattern = ServerNameRule(text: .pattern(try Pattern("[ab][.]x")), ignoresCase: false)
    #expect(pattern.matches(.dns("a.x")) && !pattern.matches(.dns("c.x")))
  }

  @Test(arguments: [
    ("2001:db8:0:0:0:0:0:1", "2001:db8::1"), ("0:0:0:0:0:0:0:0", "::"), ("0:0:0:0:0:0:0:1", "::1"),
    ("1:0:0:2:0:0:0:3", "1:0:0:2::3"), ("1:0:0:2:0:0:3:4", "1::2:0:0:3:4"),
    ("1:0:2:3:4:5:6:7", "1:0:2:3:4:5:6:7"),
    ("1:2:3:4:5:6:0:0", "1:2:3:4:5:6::"), ("10.0.0.1", "10.0.0.1"),
  ])
  func addressesHaveOneForm(_ address: String, _ canonical: String) {
    #expect(ServerNameRule.canonical(address) == canonical)
  }
}
