import ConsoleMessages
import SwitchboardCall
import SwitchboardProtobuf
import SwitchboardServices
import SwitchboardTelemetry
import SwitchboardTransport

/// Makes the view of options, service configs and certificates.
struct ConfigurationView: ConsoleView {
  static let name = "configuration"

  let telemetry: Telemetry?
  let entries: ConsoleEntries
  let clock: ConsoleClock

  /// Something that is configured.
  fileprivate enum Source: Sendable {
    case process
    case telemetry(Telemetry)
    case server(ChannelzEntries.KnownServer)
    case channel(ChannelzEntries.KnownChannel)
  }

  func waitsFor(_ query: ViewQuery) -> String { "" }

  func answer(_ query: ViewQuery) async -> Switchboard_Console_V1_ConfigurationView {
    var view = Switchboard_Console_V1_ConfigurationView()
    let found = sources.filter { query.includes($0.subject.name) }
    view.subjectCount = UInt32(clamping: found.count)
    for source in query.part(of: found) {
      var subject = source.subject
      if let detail = await detail(of: source) {
        subject.take(detail)
      } else {
        subject.isSilent = true
      }
      view.subjects.append(subject)
    }
    let selected = sources.first { $0.subject.id.utf8.elementsEqual(query.selected) }
    if let selected, let detail = await detail(of: selected) { view.selected = detail }
    return view
  }

  private var sources: [Source] {
    [.process] + (telemetry.map { [.telemetry($0)] } ?? []) + entries.servers.map { .server($0) }
      + entries.channels.map { .channel($0) }
  }

  /// `nil` if its loop does not answer.
  private func detail(of source: Source) async -> Switchboard_Console_V1_SubjectDetail? {
    var detail = Switchboard_Console_V1_SubjectDetail()
    (detail.id, detail.name) = (source.subject.id, source.subject.name)
    switch source {
    case .process: detail.options = ProcessFacts.lines
    case .telemetry(let telemetry): detail.options = telemetry.options.lines
    case .server(let known): detail.take(known.server.configuration)
    case .channel(let known):
      guard let configuration = await clock.inTime({ await known.channel.configuration() }) else {
        return nil
      }
      detail.take(configuration)
    }
    return detail
  }
}

extension ConfigurationView.Source {
  fileprivate var subject: Switchboard_Console_V1_Subject {
    .with {
      switch self {
      case .process: ($0.id, $0.kind, $0.name) = ("process", .process, "process")
      case .telemetry(let telemetry):
        ($0.id, $0.kind, $0.name) = ("telemetry", .telemetry, "telemetry of \(telemetry.serviceName)")
      case .server(let known):
        let id = NodeID(.server, known.id)
        ($0.id, $0.kind, $0.name) = (id.text, .server, known.name.isEmpty ? id.text : known.name)
      case .channel(let known):
        let id = NodeID(.channel, known.id)
        let target = known.channel.transport.host
        let name = known.name.isEmpty ? target : "\(known.name) (\(target))"
        ($0.id, $0.kind, $0.name) = (id.text, .channel, name)
      }
    }
  }
}

extension Switchboard_Console_V1_Subject {
  fileprivate mutating func take(_ detail: Switchboard_Console_V1_SubjectDetail) {
    changed = UInt32(clamping: detail.options.count { $0.isChanged })
    if detail.hasTls, detail.tls.hasCertificate { certificate = detail.tls.certificate.validity }
    isConfigRefused = detail.serviceConfig.hasRefused
  }
}

extension Switchboard_Console_V1_SubjectDetail {
  fileprivate mutating func take(_ server: ServerConfiguration) {
    var options = server.options
    // Those that were reloaded last.
    if let current = server.tlsOptions { options.tls = current }
    self.options = ServerOptions.shown.lines(options, standard: ServerOptions())
    guard let facts = server.tls else { return }
    tls = .init(facts, roots: server.tlsOptions?.trustRoots?.shown, at: .now())
  }

  fileprivate mutating func take(_ channel: ChannelConfiguration) {
    options = ChannelOptions.shown.lines(channel.options, standard: ChannelOptions())
    if let index = options.firstIndex(where: { $0.name.utf8.elementsEqual("proxy".utf8) }) {
      options[index].takeEnvironment(of: channel)
    }
    if let facts = channel.tls {
      tls = .init(facts, roots: channel.roots, at: .now())
    }
    serviceConfig = .init(channel)
  }
}

extension Switchboard_Console_V1_Option {
  /// What becomes of a proxy that the environment names.
  fileprivate mutating func takeEnvironment(of channel: ChannelConfiguration) {
    guard channel.options.proxy == .environment else { return }
    standard = "none, unless the environment names one"
    guard let named = channel.proxyOfEnvironment else {
      value = standard
      return
    }
    let isExcepted = channel.proxy == .none
    value = isExcepted ? "none for this target" : named.shown
    source = isExcepted ? "HTTPS_PROXY and NO_PROXY" : "HTTPS_PROXY"
    isChanged = true
  }
}

extension ChannelConfiguration {
  /// Where the authorities are from that it trusts.
  fileprivate var roots: String? {
    guard case .tls(let options) = options.security else { return "the system's" }
    return options.skipsVerification ? nil : options.trustRoots?.shown ?? "the system's"
  }
}

extension Switchboard_Console_V1_ServiceConfigState {
  private static let mostBytes = 32 * 1024

  fileprivate init(_ channel: ChannelConfiguration) {
    self.init()
    policy = channel.policy
    if let config = channel.serviceConfig {
      let text = config.json
      isCut = text.utf8.count > Self.mostBytes
      json = isCut ? String(decoding: text.utf8.prefix(Self.mostBytes), as: UTF8.self) : text
      source = channel.isConfigResolved ? "the resolver" : "the channel's options"
    }
    guard let refused = channel.refusedConfig else { return }
    self.refused = .with {
      $0.reason = (refused.reason.message ?? "\(refused.reason.code)").bounded
      $0.time = .now() - Google_Protobuf_Duration(refused.time.duration(to: .now))
    }
  }
}
