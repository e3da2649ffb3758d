import SwitchboardBalancing
import SwitchboardCall
import SwitchboardCallObjects
import SwitchboardProtobuf
import SwitchboardSchema
import SwitchboardServiceMessages
import SwitchboardText
import SwitchboardTransport
import XDSMessages

/// A control plane that may be asked for resources: its channel, and the stream of requests and responses. A `Discovery` says when
/// it is asked, and is told what happens.
final class ControlPlane: Sendable {
  private struct State {
    var pace = StreamPace()
    var running: Task<Void, Never>?
  }

  /// A response may be as large as that.
  private static let responseSizeLimit = 64 * 1024 * 1024
  /// The connection is closed when the control plane has not been asked for so long. It may be needed again soon.
  private static let idleTimeout = Duration.seconds(30)

  private let id: ServerID
  private let channel: Channel
  /// What each stream says of this client; `nil` if that is nothing.
  private let token: TokenFile?
  private let node: Envoy_Config_Core_V3_Node
  private let reader: ResourceReader
  let reporter: LoadReporter
  private let time: any CallTime
  let logger: Logger
  private let state = Locked(State())

  /// Throws `INVALID_ARGUMENT` for a target that is none.
  init(
    _ id: ServerID,
    _ server: XDSBootstrap.Server,
    _ node: XDSBootstrap.Node,
    _ environment: XDSEnvironment
  ) throws(GRPCStatus) {
    self.id = id
    token = server.tokenFile.map { TokenFile(path: $0) }
    var options = environment.options
    options.security = server.security(environment.certificates[server])
    options.securityPlace = .bootstrap
    options.responseSizeLimit = Self.responseSizeLimit
    options.keepaliveInterval = .seconds(300)
    options.idleTimeout = Self.idleTimeout
    channel = try Channel(target: server.target, options: options, group: environment.group)
    self.node = node.message
    var reader = environment.reader
    reader.server = id
    reader.isTrusted = server.features.contains(.trusted)
    self.reader = reader
    time = environment.time
    logger = environment.options.logger.adding(["control-plane": server.target])
    reporter = LoadReporter(channel, token, self.node, time, logger)
  }

  var eventLoop: any EventLoop { channel.eventLoop }

  /// Keeps a stream open until `close`.
  func open(_ discovery: Discovery) {
    state.withLock { state in
      state.running?.cancel()
      state.running = Task(executorPreference: channel.eventLoop) { await self.run(discovery) }
    }
  }

  func close() {
    state.withLock { state in
      state.running?.cancel()
      state.running = nil
    }
  }

  /// Nothing is asked afterwards, and no calls are reported.
  func end() {
    close()
    reporter.end()
    Task { await channel.shutDown(grace: .zero) }
  }

  private func run(_ discovery: Discovery) async {
    // It was not asked for a while: nobody knows any more that it cannot be.
    if let reason = state.withLock({ $0.pace.reasonToWait(at: time.now) }) { discovery.postponed(id, reason) }
    while !Task.isCancelled {
      if let next = state.withLock({ $0.pace.next }), next > time.now {
        guard (try? await time.sleep(until: next, on: channel.eventLoop)) != nil else { return }
      }
      state.withLock { $0.pace.began(at: time.now) }
      guard let (stream, requests) = discovery.opened(id) else { return }
      let status = await serve(stream, requests, discovery)
      guard let hasServed = discovery.ended(stream, status) else { return }
      logger.log(hasServed ? .info : .warning, "the stream has ended: \(status)")
      state.withLock { $0.pace.ended(status, hasServed: hasServed, at: time.now) }
    }
  }

  /// One stream, to its end.
  private func serve(
    _ stream: Discovery.Stream,
    _ requests: AsyncStream<Void>,
    _ discovery: Discovery
  ) async -> GRPCStatus {
    let client = Envoy_Service_Discovery_V3_AggregatedDiscoveryServiceClient(channel: channel)
    var options = CallOptions()
    options.authTokenProvider = token
    let call = client.makeStreamAggregatedResourcesCall(callOptions: options)
    defer { call.cancel() }
    return await withTaskGroup { helpers in
      helpers.addTask { try? await self.send(requests, of: stream, call.requestStream, discovery) }
      helpers.addTask { await self.noteConnection(of: stream, discovery) }
      defer { helpers.cancelAll() }
      do {
        for try await response in call.responseStream { take(response, of: stream, discovery) }
        return await call.status
      } catch { return (error as? GRPCStatus) ?? GRPCStatus(code: .unknown, message: "\(error)") }
    }
  }

  /// Sends what is due whenever it is woken.
  private func send(
    _ requests: AsyncStream<Void>,
    of stream: Discovery.Stream,
    _ writer: RequestStreamWriter<Envoy_Service_Discovery_V3_DiscoveryRequest>,
    _ discovery: Discovery
  ) async throws {
    for await _ in requests {
      while let request = discovery.nextRequest(stream) { try await writer.send(request.message(node)) }
    }
  }

  private func noteConnection(of stream: Discovery.Stream, _ discovery: Discovery) async {
    for await state in channel.connectivity where state == .ready { return discovery.connected(stream) }
  }

  private func take(
    _ response: Envoy_Service_Discovery_V3_DiscoveryResponse,
    of stream: Discovery.Stream,
    _ discovery: Discovery
  ) {
    guard let type = ResourceType(typeURL: response.typeURL) else {
      guard discovery.receivedUnknownType(stream) else { return }
      return logger.log(
        .warning,
        "a response has resources of an unknown type: \(response.typeURL.excerpt)"
      )
    }
    guard response.resources.count + response.resourceErrors.count <= ResourceReader.countLimit else {
      return discovery.refused(stream, type, nonce: response.nonce, .tooManyResources)
    }
    // Outside of any lock: this takes longest.
    let reads = reader.read(response.resources, of: type)
    let errors = reader.read(response.resourceErrors)
    discovery.received(stream, type, version: response.versionInfo, nonce: response.nonce, reads, errors)
  }
}

extension DiscoveryRequest {
  fileprivate func message(
    _ node: Envoy_Config_Core_V3_Node
  ) -> Envoy_Service_Discovery_V3_DiscoveryRequest {
    .with { message in
      message.typeURL = type.typeURL
      message.resourceNames = names
      message.versionInfo = version
      message.responseNonce = nonce
      if isFirst { message.node = node }
      guard let refusal else { return }
      message.errorDetail = .with {
        $0.code = Int32(GRPCStatus.Code.invalidArgument.rawValue)
        $0.message = refusal
      }
    }
  }
}

extension XDSBootstrap.Node {
  /// As control planes see it.
  var message: Envoy_Config_Core_V3_Node {
    .with { message in
      message.id = id
      message.cluster = cluster
      if !metadata.isEmpty { message.metadata = .with { $0.fields = metadata.mapValues(\.message) } }
      if !region.isEmpty || !zone.isEmpty || !subZone.isEmpty {
        message.locality = .with { ($0.region, $0.zone, $0.subZone) = (region, zone, subZone) }
      }
      message.userAgentName = "switchboard"
      message.userAgentVersion = Release.version
      message.clientFeatures = ["envoy.lb.does_not_support_overprovisioning", "xds.config.resource-in-sotw"]
    }
  }
}
