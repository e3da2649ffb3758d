import SwitchboardProtobuf
import SwitchboardText
import XDSMessages

private typealias Upstream = Envoy_Extensions_TransportSockets_Tls_V3_UpstreamTlsContext
private typealias Common = Envoy_Extensions_TransportSockets_Tls_V3_CommonTlsContext
private typealias Validation = Envoy_Extensions_TransportSockets_Tls_V3_CertificateValidationContext
private typealias Instance = Envoy_Extensions_TransportSockets_Tls_V3_CertificateProviderPluginInstance

extension ClusterSecurity {
  private static let longestName = 255

  /// `providers` are the names of those of the bootstrap.
  init(
    _ socket: Envoy_Config_Core_V3_TransportSocket,
    _ providers: Set<ExactText>,
    _ patterns: PatternReader
  ) throws(ResourceFault) {
    self = try part("typed_config") { () throws(ResourceFault) in
      let upstream = try socket.typedConfig.contents(Upstream.self)
      var security = try part("common_tls_context") { () throws(ResourceFault) in
        try ClusterSecurity(upstream.commonTlsContext, providers, patterns)
      }
      guard upstream.sni.utf8.count <= Self.longestName else {
        throw ResourceFault("sni", "has more than \(Self.longestName) bytes")
      }
      security.sentName = upstream.sni.isEmpty ? nil : upstream.sni
      security.sendsHosts = upstream.autoHostSni
      security.expectsSentName = upstream.autoSniSanValidation
      return security
    }
  }

  private init(
    _ common: Common,
    _ providers: Set<ExactText>,
    _ patterns: PatternReader
  ) throws(ResourceFault) {
    if common.hasTlsParams { throw ResourceFault("tls_params", "are not supported") }
    if common.hasCustomHandshaker { throw ResourceFault("custom_handshaker", "is not supported") }
    if common.hasTlsCertificateProviderInstance {
      identity = try common.tlsCertificateProviderInstance.name(
        "tls_certificate_provider_instance",
        providers
      )
    } else {
      guard common.tlsCertificates.isEmpty else {
        throw ResourceFault("tls_certificates", "are not supported")
      }
      guard common.tlsCertificateSdsSecretConfigs.isEmpty else {
        throw ResourceFault("tls_certificate_sds_secret_configs", "are not supported")
      }
    }
    let (path, validation) = try Self.validation(of: common)
    (roots, names) = try part(path) { () throws(ResourceFault) in
      try validation.check()
      return (try Self.roots(of: validation, providers), try Self.names(of: validation, patterns))
    }
  }

  private static func validation(of common: Common) throws(ResourceFault) -> (String, Validation) {
    switch common.validationContextType {
    case .validationContext(let validation): return ("validation_context", validation)
    case .combinedValidationContext(let combined) where combined.hasDefaultValidationContext:
      return ("combined_validation_context.default_validation_context", combined.defaultValidationContext)
    case .combinedValidationContext, nil: throw ResourceFault("validation_context", "is missing")
    }
  }

  private static func roots(
    of validation: Validation,
    _ providers: Set<ExactText>
  ) throws(ResourceFault) -> Roots {
    if validation.hasCaCertificateProviderInstance {
      let name = try validation.caCertificateProviderInstance.name(
        "ca_certificate_provider_instance",
        providers
      )
      return .provider(name)
    }
    guard validation.hasSystemRootCerts else {
      throw ResourceFault("ca_certificate_provider_instance", "is missing")
    }
    return .ofSystem
  }

  private static func names(
    of validation: Validation,
    _ patterns: PatternReader
  ) throws(ResourceFault) -> [ServerNameRule] {
    try parts("match_subject_alt_names", validation.matchSubjectAltNames) {
      (matcher) throws(ResourceFault) in
      let (text, ignoresCase) = try patterns.rule(matcher)
      return ServerNameRule(text: text, ignoresCase: ignoresCase)
    }
  }
}

extension Validation {
  /// Throws for what would accept more than was asked for, if it were ignored.
  fileprivate func check() throws(ResourceFault) {
    let refused: [(String, Bool)] = [
      ("match_typed_subject_alt_names", !matchTypedSubjectAltNames.isEmpty),
      ("verify_certificate_spki", !verifyCertificateSpki.isEmpty),
      ("verify_certificate_hash", !verifyCertificateHash.isEmpty),
      ("require_signed_certificate_timestamp", requireSignedCertificateTimestamp.value),
      ("crl", hasCrl),
      ("custom_validator_config", hasCustomValidatorConfig),
    ]
    for (path, isSet) in refused where isSet { throw ResourceFault(path, "is not supported") }
  }
}

extension Instance {
  /// The name of a provider that the bootstrap has.
  fileprivate func name(_ path: String, _ providers: Set<ExactText>) throws(ResourceFault) -> String {
    guard providers.contains(instanceName) else {
      throw ResourceFault(
        "\(path).instance_name",
        "names none of the certificate providers of the bootstrap, or one whose plugin is unknown: \(instanceName.excerpt)"
      )
    }
    return instanceName
  }
}
