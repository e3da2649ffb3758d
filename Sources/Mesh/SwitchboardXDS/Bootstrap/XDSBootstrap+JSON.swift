// text: a bootstrap is the program's own

import SwitchboardBalancing
public import SwitchboardCall
import SwitchboardText

extension XDSBootstrap {
  /// Reads gRPC's bootstrap in JSON. Members that are not known are ignored, as by all clients; an `XDSResolver` that gets the
  /// bootstrap logs them. Throws `INVALID_ARGUMENT`, which names the member by its path.
  public init(json: String) throws(GRPCStatus) {
    let audit = ConfigAudit()
    do throws(GRPCStatus) {
      guard case .object(let members) = try ConfigValue(json: json) else {
        throw .invalidServiceConfig("", "is not an object")
      }
      try self.init(members, audit)
      remarks = audit.findings.filter(\.isMistake).prefix(ConfigFinding.mostReported).map(\.description)
    } catch { throw .invalidBootstrap(error, audit) }
  }

  private init(_ members: [String: ConfigValue], _ audit: ConfigAudit) throws(GRPCStatus) {
    let reader = ConfigReader(members, at: "", audit: audit)
    // Of servers that a control plane configures.
    reader.knows("server_listener_resource_name_template")
    let servers = try reader.required("xds_servers", try Self.servers("xds_servers", of: reader))
    guard !servers.isEmpty else { throw reader.failure("xds_servers", "is empty") }
    self.init(servers: servers, node: try Node(reader, members))
    if let template = try reader.string("client_default_listener_resource_name_template"), !template.isEmpty {
      listenerTemplate = template
    }
    for (name, authority) in try reader.objectsByName("authorities") ?? [] {
      authorities[name] = try Authority(authority, name)
    }
    for (name, provider) in try reader.objectsByName("certificate_providers") ?? [] {
      certificateProviders[name] = try CertificateProviderConfig(provider)
    }
  }

  /// Control planes; `nil` if there is no such member.
  fileprivate static func servers(_ member: String, of reader: ConfigReader) throws(GRPCStatus) -> [Server]? {
    guard let readers = try reader.objects(member) else { return nil }
    var servers: [Server] = []
    for server in readers { servers.append(try Server(server)) }
    return servers
  }
}

extension XDSBootstrap.Server {
  fileprivate init(_ reader: ConfigReader) throws(GRPCStatus) {
    let target = try reader.required("server_uri", try reader.string("server_uri"))
    guard !target.isEmpty else { throw reader.failure("server_uri", "is empty") }
    if let (scheme, rest) = target.schemeAndRest, ["http", "https"].contains(scheme.lowercased()) {
      let host = rest.prefix { $0 != "/" }
      throw reader.failure(
        "server_uri",
        "is a URL: write \"dns:///\(String(host).excerpt)\"; channel_creds say whether there is TLS"
      )
    }
    let features = try reader.strings("server_features") ?? []
    for (position, feature) in features.enumerated() where XDSBootstrap.Feature(name: feature) == nil {
      let known = XDSBootstrap.Feature.allCases.map(\.rawValue)
      reader.noteUnknown("server_features[\(position)]", feature, known: known)
    }
    let (security, interval) = try Self.security(reader)
    self.init(
      target,
      security: security,
      features: Set(features.compactMap { XDSBootstrap.Feature(name: $0) })
    )
    fileInterval = interval
    tokenFile = try Self.tokenFile(reader)
  }

  /// The first credentials of calls whose kind is known: further ones would send the same field again.
  private static func tokenFile(_ reader: ConfigReader) throws(GRPCStatus) -> String? {
    let offers = try reader.objects("call_creds") ?? []
    for offer in offers { offer.knows("type", "config") }
    for offer in offers {
      let kind = try offer.required("type", try offer.string("type"))
      guard kind.isExactly("jwt_token_file") else {
        offer.noteUnknown("type", kind, known: ["jwt_token_file"])
        continue
      }
      let config = try offer.required("config", try offer.object("config"))
      let path = try config.required("jwt_token_file", try config.string("jwt_token_file"))
      guard !path.isEmpty else { throw config.failure("jwt_token_file", "is empty") }
      return path
    }
    return nil
  }

  /// Credentials of the first kind that is known, and how often their files are read.
  private static func security(
    _ reader: ConfigReader
  ) throws(GRPCStatus) -> (ChannelSecurity, fileInterval: Duration?) {
    var passedOver: [String] = []
    let offers = try reader.required("channel_creds", try reader.objects("channel_creds"))
    for offer in offers { offer.knows("type", "config") }
    for offer in offers {
      let kind = try offer.required("type", try offer.string("type"))
      if kind.isExactly("insecure") { return (.plaintext, nil) }
      if kind.isExactly("tls") {
        guard let config = try offer.object("config") else { return (.tls(), nil) }
        return (.tls(try ClientTLS(config)), try config.refreshInterval())
      }
      offer.noteUnknown("type", kind, known: ["tls", "insecure"])
      passedOver.append(
        kind.isExactly("google_default") ? "google_default (it needs Google's own libraries)" : kind.excerpt
      )
    }
    let list = passedOver.prefix(8).joined(separator: ", ")
    let found = list.isEmpty ? "" : "; there is: \(list)"
    throw reader.failure(
      "channel_creds",
      "has none of the kinds that are known, which are tls and insecure\(found)"
    )
  }
}

extension XDSBootstrap.Feature {
  /// Others are ignored.
  fileprivate init?(name: String) {
    guard let feature = Self.allCases.first(where: { $0.rawValue.isExactly(name) }) else { return nil }
    self = feature
  }
}

extension ClientTLS {
  /// The configuration of the credentials `tls` (gRFC A65).
  fileprivate init(_ reader: ConfigReader) throws(GRPCStatus) {
    let (chain, key) = try reader.credentialFiles()
    self.init(trustRoots: try reader.string("ca_certificate_file").map { .file($0) })
    if let chain, let key {
      credentials = TLSCredentials(certificateChain: .file(chain), privateKey: .file(key))
    }
  }
}

extension XDSBootstrap.Node {
  fileprivate init(_ reader: ConfigReader, _ members: [String: ConfigValue]) throws(GRPCStatus) {
    self.init()
    guard let node = try reader.object("node") else { return }
    // What a control plane may want to know of a client, and learns from this one by itself, or not.
    node.knows(
      "user_agent_name",
      "user_agent_version",
      "user_agent_build_version",
      "build_version",
      "client_features"
    )
    id = try node.string("id") ?? ""
    cluster = try node.string("cluster") ?? ""
    if let locality = try node.object("locality") {
      region = try locality.string("region") ?? ""
      zone = try locality.string("zone") ?? ""
      let older = try locality.string("subZone")
      subZone = try locality.string("sub_zone") ?? older ?? ""
    }
    try node.object("metadata")?.takesAnything()
    if case .object(let own)? = members["node"], case .object(let values)? = own["metadata"] {
      metadata = values
    }
  }
}

extension XDSBootstrap.Authority {
  fileprivate init(_ reader: ConfigReader, _ name: String) throws(GRPCStatus) {
    let servers = try XDSBootstrap.servers("xds_servers", of: reader) ?? []
    self.init(servers: servers.isEmpty ? nil : servers)
    fallsBackOnReachabilityOnly = try reader.bool("fallback_on_reachability_only") ?? false
    let member = "client_listener_resource_name_template"
    guard let template = try reader.string(member), !template.isEmpty else { return }
    guard template.begins(with: "xdstp://\(name)/") else {
      throw reader.failure(member, "does not begin with xdstp://\(name.excerpt)/")
    }
    listenerTemplate = template
  }
}

extension CertificateProviderConfig {
  fileprivate init(_ reader: ConfigReader) throws(GRPCStatus) {
    let plugin = try reader.required("plugin_name", try reader.string("plugin_name"))
    let settings = try reader.object("config")
    guard plugin.isExactly("file_watcher") else {
      settings?.takesAnything()
      reader.noteUnknown("plugin_name", plugin, known: ["file_watcher"])
      self = .unknown(plugin: plugin)
      return
    }
    guard let settings else { throw reader.failure("config", "is missing") }
    var files = Files()
    (files.certificateChain, files.privateKey) = try settings.credentialFiles()
    files.trustRoots = try settings.string("ca_certificate_file")
    guard files.certificateChain != nil || files.trustRoots != nil else {
      throw settings.failure("ca_certificate_file", "is missing, and certificate_file too")
    }
    files.interval = try settings.refreshInterval()
    self = .files(files)
  }
}

extension ConfigReader {
  /// Notes a value that only other clients know, if it is nearly one that is known here.
  fileprivate func noteUnknown(_ member: String, _ value: String, known: [String]) {
    let reason = "\(value.excerpt) is unknown and ignored"
    note([ConfigFinding(path: member, name: value, reason: reason, candidates: known, isCommon: true)])
  }

  /// How often files are read again.
  fileprivate func refreshInterval() throws(GRPCStatus) -> Duration {
    let interval = try duration("refresh_interval") ?? .seconds(600)
    guard interval >= .milliseconds(1) else { throw failure("refresh_interval", "is below 1 ms") }
    return interval
  }

  /// The files of a certificate and its key, which are given together.
  fileprivate func credentialFiles() throws(GRPCStatus) -> (chain: String?, key: String?) {
    let chain = try string("certificate_file")
    let key = try string("private_key_file")
    guard (chain == nil) == (key == nil) else {
      let missing = chain == nil ? "certificate_file" : "private_key_file"
      throw failure(missing, "is missing: a certificate and its key are given together")
    }
    return (chain, key)
  }
}

extension GRPCStatus {
  /// The same mistake as one of a bootstrap. What is missing may be there, but misspelled.
  fileprivate static func invalidBootstrap(_ failure: GRPCStatus, _ audit: ConfigAudit) -> GRPCStatus {
    guard let mistake = failure.configMistake else { return failure }
    let place = mistake.position.map { " (line \($0.line), column \($0.column))" } ?? ""
    let misspelled =
      mistake.reason == "is missing" ? audit.findings.first { $0.isMisspelling(of: mistake.path) } : nil
    let found = misspelled.map { "; there is: \($0.name.excerpt)" } ?? ""
    return GRPCStatus(code: .invalidArgument, message: "xDS bootstrap: \(mistake)\(place)\(found)")
  }
}

extension ConfigFinding {
  /// Whether it is an unknown member of the same object, with nearly the name at the end of `path`.
  fileprivate func isMisspelling(of path: String) -> Bool {
    let name = path.split(separator: ".").last.map(String.init) ?? ""
    return self.path.dropLast(self.name.count) == path.dropLast(name.count)
      && NearNames(of: self.name, in: [name]).best != nil
  }
}
