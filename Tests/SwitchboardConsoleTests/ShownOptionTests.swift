import CallTestSupport
import CertificateSupport
import Switchboard
import SwitchboardBalancing
import SwitchboardCall
import SwitchboardTelemetry
import SwitchboardTransport
import Testing

@testable import SwitchboardConsole

/// What is shown of options: all of them, and of no secret more than that there is one.
@Suite struct ShownOptionTests {
  private static let secret = "the-secret-of-the-test"

  /// Text that may be in any option that holds more than a number.
  private struct Holder: LogHandler, CustomStringConvertible, CustomDebugStringConvertible {
    let text = ShownOptionTests.secret
    var description: String { text }
    var debugDescription: String { text }
    func log(_ level: LogLevel, _ message: String, _ metadata: [String: String]) {}
  }

  private static let credentials = TLSCredentials(
    certificateChain: .bytes(Array(secret.utf8)),
    privateKey: .bytes(Array(secret.utf8))
  )

  private static var server: ServerOptions {
    var options = ServerOptions()
    options.tls = ServerTLS(
      credentials: TLSCredentials(
        certificateChain: .bytes(Array(secret.utf8)),
        privateKey: .file("/run/\(secret).key")
      ),
      clientCertificates: .required,
      trustRoots: .bytes(Array(secret.utf8))
    )
    options.web = WebOptions(origins: .only(["https://app.example"]))
    options.pages = [HTTPPage("GET", "/\(secret)") { _ in HTTPPage.Response(contentType: "a/b", body: []) }]
    options.hosts = HostNames([secret])
    options.logger = Logger(Holder()).adding(["key": secret])
    return options
  }

  private static var channel: ChannelOptions {
    var options = ChannelOptions()
    options.security = .tls(
      ClientTLS(trustRoots: .bytes(Array(secret.utf8)), credentials: credentials, serverNameOverride: "shop")
    )
    options.proxy = .http(
      host: "\(secret)@proxy.example",
      port: 80,
      credentials: ProxyCredentials(user: secret, password: secret)
    )
    options.logger = Logger(Holder()).adding(["key": secret])
    return options
  }

  private static var telemetry: TelemetryOptions {
    var options = TelemetryOptions(serviceName: "shop", attributes: ["key": .string(secret)])
    var otlp = OTLPOptions(endpoint: "https://collector.example:4318/\(secret)", transport: .http)
    otlp.headers = [("authorization", secret), (secret, "x")]
    otlp.tls = ClientTLS(trustRoots: .bytes(Array(secret.utf8)), credentials: credentials)
    options.exporters = [.otlp(otlp), .spans { _ in }]
    options.logger = Logger(Holder()).adding(["key": secret])
    return options
  }

  private func expectNoSecret<Options>(
    _ shown: ShownOptions<Options>,
    _ options: Options,
    _ standard: Options
  ) {
    for line in shown.lines(options, standard: standard) {
      #expect(!line.value.contains(Self.secret), "\(line.name): \(line.value)")
    }
  }

  @Test func secretsAreNotShown() {
    expectNoSecret(ServerOptions.shown, Self.server, ServerOptions())
    expectNoSecret(ChannelOptions.shown, Self.channel, ChannelOptions())
    expectNoSecret(TelemetryOptions.shown, Self.telemetry, TelemetryOptions())
    for proxy in [
      ProxyOption.socks5(
        host: "p",
        port: 1,
        credentials: ProxyCredentials(user: Self.secret, password: Self.secret)
      ),
      Self.channel.proxy,
    ] {
      #expect(!proxy.shown.contains(Self.secret) && proxy.shown.hasSuffix("with credentials"))
    }
  }

  /// What can hold text has a secret in the test above, or is named here with the reason why it cannot hold one.
  @Test func eachOptionThatCanHoldTextHasASecretInTheTest() {
    let without: Set<String> = [
      // Sent to every peer, or the names of methods, metrics, types and services.
      "authority", "userAgentPrefix", "handlerPlacements", "requiredInterceptors", "metrics", "web",
      "propagators",
      // Of these, only the name of the type is shown, as of loggers.
      "dialects", "payloadFormats", "interceptorFactories", "interceptorRegistry", "observer", "loadRecorder",
      // Shown as JSON, whose members are those of gRPC.
      "serviceConfig",
      // A word of two for messages.
      "securityPlace",
      "spanOfTask", "onConnectionPhase",
      // Of other modules; see the rules below.
      "extensions", "environment",
    ]
    for options in [Self.server, Self.channel, Self.telemetry] as [Any] {
      for child in Mirror(reflecting: options).children {
        let name = child.label ?? ""
        guard !without.contains(name), Self.canHoldText(child.value) else { continue }
        #expect(Self.holdsSecret(child.value), "\(name) of \(type(of: options))")
      }
    }
  }

  private static func canHoldText(_ value: Any) -> Bool {
    !(value is any ShownNumber || value is Bool || value is Duration || value is Duration? || value is Int?
      || value is CallProtocol || value is HTTPVersion || value is Sampler || value is BatchOptions
      || value is BatchOptions?)
  }

  private static func holdsSecret(_ value: Any) -> Bool {
    if let text = value as? String { return text.contains(secret) }
    if let bytes = value as? [UInt8] { return bytes.starts(with: secret.utf8) }
    if let credentials = value as? ProxyCredentials { return credentials.password == secret }
    return Mirror(reflecting: value).children.contains { holdsSecret($0.value) }
  }

  /// An option that is added must be in the list, so that somebody thinks of what may be shown of it.
  @Test func eachOptionIsShown() {
    func names(_ options: Any, except others: Set<String>) -> Set<String> {
      Set(Mirror(reflecting: options).children.compactMap(\.label)).subtracting(others)
    }
    #expect(names(ServerOptions(), except: []) == Set(ServerOptions.shown.all.map(\.name)))
    let ofBalancing: Set = ["resolvers", "loadBalancingPolicies", "looksUpServiceConfig", "resolutionPace"]
    let notShown: Set = ["chosenLogger", "extensions", "onConnectionPhase", "securityPlace"]
    let channel = names(ChannelOptions(), except: notShown)
    #expect(channel.union(ofBalancing).union(["logger"]) == Set(ChannelOptions.shown.all.map(\.name)))
    #expect(names(BalancingOptions(), except: []).count == ofBalancing.count)
    let telemetry = names(TelemetryOptions(), except: ["exportsLogsByDefault", "environment"])
    #expect(telemetry == Set(TelemetryOptions.shown.all.map(\.name)))
  }

  @Test func defaultsAreNotMarked() {
    let lines =
      ServerOptions.shown.lines(ServerOptions(), standard: ServerOptions())
      + ChannelOptions.shown.lines(ChannelOptions(), standard: ChannelOptions()) + TelemetryOptions().lines
    #expect(lines.allSatisfy { !$0.isChanged && $0.source.isEmpty && $0.value == $0.standard })
  }

  @Test(arguments: [
    (4 * 1024 * 1024, "4 MiB"), (16 * 1024, "16 KiB"), (1000, "1000 bytes"), (1025, "1025 bytes"),
    (.max, "no limit"), (0, "0 bytes"), (3 << 30, "3 GiB"),
  ])
  func sizesAreReadable(_ size: Int, _ text: String) { #expect(size.shownBytes == text) }

  @Test(arguments: [
    (Duration.seconds(7200), "2 h"), (.seconds(300), "5 min"), (.seconds(60), "60 s"),
    (.seconds(125), "125 s"),
    (.milliseconds(50), "50 ms"), (.seconds(Int64.max), "no limit"), (.zero, "0 ms"),
  ])
  func timesAreReadable(_ time: Duration, _ text: String) { #expect(time.shown == text) }

  @Test func whatTheEnvironmentSaysIsNamed() throws {
    let environment = [
      "OTEL_SERVICE_NAME": "shop", "OTEL_TRACES_SAMPLER": "parentbased_traceidratio",
      "OTEL_TRACES_SAMPLER_ARG": "0.25", "OTEL_METRIC_EXPORT_INTERVAL": "5000",
      "OTEL_EXPORTER_OTLP_HEADERS": "authorization=\(Self.secret)", "PATH": "/bin",
    ]
    var options = TelemetryOptions(environment: environment, logger: .quiet)
    options.metricInterval = .seconds(7)
    let lines = Dictionary(uniqueKeysWithValues: options.lines.map { ($0.name, $0) })
    #expect(lines["sampler"]?.source == "OTEL_TRACES_SAMPLER, OTEL_TRACES_SAMPLER_ARG")
    #expect(lines["sampler"]?.value == "as the caller decides; 25.0 % of traces that begin here")
    #expect(lines["resource"]?.source == "OTEL_SERVICE_NAME")
    #expect(lines["exporters"]?.source == "OTEL_EXPORTER_OTLP_HEADERS")
    #expect(lines["exporters"]?.value.contains(Self.secret) == false)
    #expect(lines["exporters"]?.value.contains("with headers") == true)
    #expect(lines["metricInterval"]?.source == "code")
    #expect(lines["cardinalityLimit"]?.source == "")
  }

  @Test(arguments: [
    "{}",
    #"{"loadBalancingConfig": [{"round_robin": {}}]}"#,
    #"{"healthCheckConfig": {"serviceName": ""}}"#,
    """
    {"methodConfig": [
      {"name": [{"service": "a.B", "method": "C"}, {}], "timeout": "1.5s", "waitForReady": true, "maxRequestMessageBytes": 5,
       "retryPolicy": {"maxAttempts": 3, "initialBackoff": "0.001s", "maxBackoff": "2s", "backoffMultiplier": 1.5,
         "retryableStatusCodes": ["ABORTED", "UNAVAILABLE"]}},
      {"name": [{"service": "a.C"}], "maxResponseMessageBytes": 7,
       "hedgingPolicy": {"maxAttempts": 2, "hedgingDelay": "0.25s", "nonFatalStatusCodes": ["UNAVAILABLE"]}}],
     "retryThrottling": {"maxTokens": 10, "tokenRatio": 0.1},
     "loadBalancingConfig": [{"weighted_round_robin": {"blackoutPeriod": "1s", "enableOobLoadReport": false}}]}
    """,
  ])
  func aServiceConfigIsWrittenAsItIsRead(_ json: String) throws {
    let config = try ServiceConfig(json: json)
    #expect(try ServiceConfig(json: config.json) == config, "\(config.json)")
  }
}

private protocol ShownNumber {}
extension Int: ShownNumber {}
extension Double: ShownNumber {}
