import CallTestSupport
import ServerTestSupport
import Switchboard
import Testing

@testable import SwitchboardXDS

@Suite struct BootstrapTests {
  private static let server = #"{"server_uri": "plane:443", "channel_creds": [{"type": "insecure"}]}"#
  private static let badServer =
    #"{"server_uri": "a", "channel_creds": [{"type": "tls", "config": {"ca_certificate_file": "no/roots.pem"}}]}"#

  @Test(arguments: [
    (
      "GRPC_XDS_BOOTSTRAP", #" {"xds_servers": []}"#,
      "GRPC_XDS_BOOTSTRAP: it is JSON, for which GRPC_XDS_BOOTSTRAP_CONFIG is"
    ),
    (
      "GRPC_XDS_BOOTSTRAP_CONFIG", "/etc/bootstrap.json",
      "GRPC_XDS_BOOTSTRAP_CONFIG: it is no JSON object; for the path of a file, GRPC_XDS_BOOTSTRAP is"
    ),
  ])
  func variablesAreNotTakenForEachOther(_ name: String, _ value: String, _ message: String) async {
    let failure = await status { _ = try XDSBootstrap.ofEnvironment { $0 == name ? value : nil } }
    #expect(failure?.code == .invalidArgument)
    #expect(failure?.message == message)
  }

  @Test func aWholeBootstrapIsRead() throws {
    let bootstrap = try XDSBootstrap(
      json: """
        {
          "xds_servers": [
            {
              "server_uri": "dns:///plane.example:443",
              "channel_creds": [
                {"type": "google_default"},
                {"type": "tls", "config": {"ca_certificate_file": "/roots.pem", "certificate_file": "/c.pem",
                                           "private_key_file": "/c.key", "refresh_interval": "600s"}},
                {"type": "insecure"}
              ],
              "server_features": ["xds_v3", "fail_on_data_errors", "something_new"],
              "call_creds": [{"type": "new"}, {"type": "jwt_token_file", "config": {"jwt_token_file": "/token"}}]
            },
            \(Self.server)
          ],
          "node": {"id": "n7", "cluster": "tests", "locality": {"region": "eu", "zone": "eu-1", "sub_zone": "rack"},
                   "metadata": {"app": {"name": "greeter"}}},
          "client_default_listener_resource_name_template": "listener/%s",
          "authorities": {"other": {"xds_servers": [\(Self.server), \(Self.server)], "fallback_on_reachability_only": true},
                          "plain": {}},
          "certificate_providers": {"default": {"plugin_name": "file_watcher", "config": {"ca_certificate_file": "/r"}}},
          "something_new": [1, 2]
        }
        """
    )
    #expect(bootstrap.remarks.map(shortened) == ["something_new: is unknown and ignored"])
    let first = try #require(bootstrap.servers.first)
    #expect(first.target == "dns:///plane.example:443" && first.features == [.failOnDataErrors])
    let credentials = TLSCredentials(certificateChain: .file("/c.pem"), privateKey: .file("/c.key"))
    #expect(first.security == .tls(ClientTLS(trustRoots: .file("/roots.pem"), credentials: credentials)))
    #expect(first.tokenFile == "/token")
    #expect(bootstrap.servers.last?.security == .plaintext)
    let metadata: [String: ConfigValue] = ["app": .object(["name": .string("greeter")])]
    #expect(
      bootstrap.node
        == XDSBootstrap.Node(
          id: "n7",
          cluster: "tests",
          region: "eu",
          zone: "eu-1",
          subZone: "rack",
          metadata: metadata
        )
    )
    #expect(bootstrap.certificateProviders["default"] == .files(.init(trustRoots: "/r")))
    #expect(try bootstrap.listenerName(for: "a.b:80", of: "") == "listener/a.b:80")
    #expect(
      try bootstrap.listenerName(for: "a b", of: "other")
        == "xdstp://other/envoy.config.listener.v3.Listener/a%20b"
    )
    let table = ServerTable(bootstrap)
    #expect(bootstrap.servers == table.servers)
    func choice(_ name: String) -> ServerChoice? { table.authority(of: name).map { table.choices[$0] } }
    #expect(choice("xdstp://other/x") == ServerChoice([1], isByReachability: true))
    #expect(choice("xdstp://plain/x") == ServerChoice([0, 1]))
    #expect(choice("xdstp://unknown/x") == nil)
    #expect(choice("anything") == ServerChoice([0, 1]) && choice("xdstp:///x") == ServerChoice([0, 1]))
  }

  @Test(arguments: [
    ("[]", "is not an object"),
    ("{}", "xds_servers: is missing"),
    (#"{"xds_servers": []}"#, "xds_servers: is empty"),
    (#"{"xds_server": [], "node": {}}"#, "xds_servers: is missing; there is: xds_server"),
    (
      #"{"xds_servers": [{"server_url": "a"}]}"#,
      "xds_servers[0].server_uri: is missing; there is: server_url"
    ),
    (
      #"{"server_url": "a", "xds_servers": [{"channel_creds": []}]}"#,
      "xds_servers[0].server_uri: is missing"
    ),
    (#"{"xds_servers": [7]}"#, "xds_servers[0]: is not an object"),
    (#"{"xds_servers": [{"channel_creds": []}]}"#, "xds_servers[0].server_uri: is missing"),
    (
      #"{"xds_servers": [{"server_uri": "http://plane:1/x", "channel_creds": [{"type": "insecure"}]}]}"#,
      #"xds_servers[0].server_uri: is a URL: write "dns:///plane:1"; channel_creds say whether there is TLS"#
    ), (#"{"xds_servers": [{"server_uri": "a"}]}"#, "xds_servers[0].channel_creds: is missing"),
    (
      #"{"xds_servers": [{"server_uri": "a", "channel_creds": [{"type": "google_default"}, {"type": "x"}]}]}"#,
      "xds_servers[0].channel_creds: has none of the kinds that are known, which are tls and insecure; there is: "
        + "google_default (it needs Google's own libraries), x"
    ),
    (
      #"{"xds_servers": [{"server_uri": "a", "channel_creds": [{"type": "tls", "config": {"private_key_file": "k"}}]}]}"#,
      "xds_servers[0].channel_creds[0].config.certificate_file: is missing: a certificate and its key are given together"
    ),
    (
      #"{"xds_servers": [{"server_uri": "a", "channel_creds": [{"type": "tls"}], "call_creds": [{"type": "jwt_token_file"}]}]}"#,
      "xds_servers[0].call_creds[0].config: is missing"
    ),
    // Also one that would be asked only if others cannot be.
    (
      #"{"xds_servers": [\#(server), {"server_uri": "b", "channel_creds": [{"type": "x"}]}]}"#,
      "xds_servers[1].channel_creds: has none of the kinds that are known, which are tls and insecure; there is: x"
    ),
    (
      #"{"xds_servers": [\#(server)], "authorities": {"a": {"xds_servers": [\#(server), {"server_uri": ""}]}}}"#,
      "authorities.a.xds_servers[1].server_uri: is empty"
    ),
    (
      #"{"xds_servers": [\#(server)], "authorities": {"a": {"fallback_on_reachability_only": "yes"}}}"#,
      "authorities.a.fallback_on_reachability_only: is neither true nor false"
    ),
    (#"{"xds_servers": [\#(server)], "node": 1}"#, "node: is not an object"),
    (
      #"{"xds_servers": [\#(server)], "node": {"locality": {"zone": 1}}}"#,
      "node.locality.zone: is not a string"
    ),
    (
      #"{"xds_servers": [\#(server)], "authorities": {"a": {"client_listener_resource_name_template": "x/%s"}}}"#,
      "authorities.a.client_listener_resource_name_template: does not begin with xdstp://a/"
    ),
    (
      #"{"xds_servers": [\#(server)], "certificate_providers": {"p": {"plugin_name": "file_watcher"}}}"#,
      "certificate_providers.p.config: is missing"
    ),
  ])
  func aMistakeIsNamedByItsPath(_ json: String, _ reason: String) {
    let failure = #expect(throws: GRPCStatus.self) { try XDSBootstrap(json: json) }
    #expect(failure?.code == .invalidArgument)
    #expect(failure?.message == "xDS bootstrap: \(reason)")
  }

  private func shortened(_ remark: String) -> String { String(remark.prefix { $0 != ";" }) }

  /// All clients ignore what they do not know. Members that they have, and this one needs not, are none.
  @Test func membersThatNobodyReadsAreRemarkedOn() throws {
    let bootstrap = try XDSBootstrap(
      json: """
        {
          "xds_servers": [{
            "server_uri": "plane:443",
            "channel_creds": [{"type": "tsl"}, {"type": "google_default", "config": {"any": 1}}, {"type": "insecure"}, {"type": "tls"}],
            "call_creds": [{"type": "jwt_token_fil", "config": {"any": 1}}],
            "server_feature": [],
            "server_features": ["xds_v3", "ignore_resource_deletion", "trusted_xds_servers"]
          }],
          "node": {"id": "a", "clustr": "b", "user_agent_name": "c", "metadata": {"any": 1}},
          "server_listener_resource_name_template": "x",
          "authorities": {"any": {"xds_server": []}},
          "certificate_providers": {"one": {"plugin_name": "file_watchers", "config": {"any": 1}}, "two": {"plugin_name": "own"}},
          "certificate_provider": {}
        }
        """
    )
    #expect(
      bootstrap.remarks.map(shortened) == [
        "certificate_provider: is unknown and ignored",
        "xds_servers[0].server_feature: is unknown and ignored",
        "node.clustr: is unknown and ignored", "authorities.any.xds_server: is unknown and ignored",
        "xds_servers[0].server_features[2]: trusted_xds_servers is unknown and ignored (did you mean trusted_xds_server?)",
        "xds_servers[0].channel_creds[0].type: tsl is unknown and ignored (did you mean tls?)",
        "xds_servers[0].call_creds[0].type: jwt_token_fil is unknown and ignored (did you mean jwt_token_file?)",
        "certificate_providers.one.plugin_name: file_watchers is unknown and ignored (did you mean file_watcher?)",
      ]
    )
    #expect(bootstrap.remarks.first?.hasSuffix("(did you mean certificate_providers?)") == true)
  }

  @Test func aResolverLogsThemOnce() async throws {
    let log = LogEntries()
    let bootstrap = try XDSBootstrap(json: #"{"xds_servers": [\#(Self.server)], "nod": {}}"#)
    var options = ChannelOptions()
    options.resolvers = [XDSResolver(bootstrap: bootstrap, logger: Logger(log, minimumLevel: .warning))]
    for _ in 0..<2 { await (try Channel(target: "xds:///greeter", options: options)).shutDown() }
    #expect(log.all.map { shortened($0.message) } == ["xDS bootstrap: nod: is unknown and ignored"])
  }

  /// Otherwise calls would fail, and say that the control plane cannot be asked.
  @Test(arguments: [
    (#"{"xds_servers": [\#(server), \#(badServer)]}"#, "xds_servers[1]"),
    (
      #"{"xds_servers": [\#(server)], "authorities": {"a": {"xds_servers": [\#(badServer)]}}}"#,
      "authorities.a.xds_servers[0]"
    ),
  ])
  func filesOfAControlPlaneAreReadBeforeThereIsAChannel(_ json: String, _ path: String) throws {
    var options = ChannelOptions()
    options.resolvers = [XDSResolver(bootstrap: try XDSBootstrap(json: json), logger: .quiet)]
    let failure = #expect(throws: GRPCStatus.self) { try Channel(target: "xds:///greeter", options: options) }
    #expect(failure?.code == .invalidArgument)
    #expect(
      failure?.message?.hasPrefix("xDS bootstrap: \(path).channel_creds: ") == true
        && failure?.message?.contains("no/roots.pem") == true,
      "\(failure?.message ?? "")"
    )
  }

  @Test(arguments: [
    ("xdstp://a/T/x?b=2&a=1&c", "xdstp://a/T/x?a=1&b=2&c"), ("xdstp://a/T/x?", "xdstp://a/T/x?"),
    ("xdstp://a/T/x?b&a#f?b&a", "xdstp://a/T/x?a&b#f?b&a"), ("xdstp://a/T/x", "xdstp://a/T/x"),
    ("x?b=2&a=1", "x?b=2&a=1"),
  ])
  func theContextParametersOfANameHaveNoOrder(_ name: String, _ canonical: String) {
    #expect(ResourceKey(.cluster, name) == ResourceKey(.cluster, canonical))
    #expect(ResourceKey(.cluster, name).name.text == canonical)
  }

  /// Whatever a control plane sends: a long list would take longer to sort than to read.
  @Test func parametersOfALongNameStayAsTheyAre() {
    func name(_ parameters: some Sequence<Int>) -> String {
      "xdstp://a/T/x?" + parameters.map { "p\($0 + 100)" }.joined(separator: "&")
    }
    let most = XDSBootstrap.mostSortedParameters
    #expect(XDSBootstrap.canonical(name((0..<most).reversed())) == name(0..<most))
    #expect(XDSBootstrap.canonical(name((0...most).reversed())) == name((0...most).reversed()))
  }

  @Test func aTargetOfAnOwnerThatIsNotKnownIsRefused() throws {
    let bootstrap = try XDSBootstrap(json: #"{"xds_servers": [\#(Self.server)]}"#)
    let failure = #expect(throws: GRPCStatus.self) { try bootstrap.listenerName(for: "a", of: "who") }
    #expect(failure?.code == .invalidArgument)
  }
}
