import SwitchboardBalancing
import SwitchboardCall
import SwitchboardCallObjects
import SwitchboardProtobuf
import SwitchboardTransport
import XDSMessages

/// Tells a control plane of the calls to its clusters, over one stream (LRS), while there are clusters that it wants to know of.
final class LoadReporter: Sendable {
  private struct State {
    var running: Task<Void, Never>?
    var isEnded = false
  }

  /// A response has little but names of clusters.
  private static let responseSizeLimit = 4 * 1024 * 1024

  private let channel: Channel
  private let token: TokenFile?
  private let node: Envoy_Config_Core_V3_Node
  private let time: any CallTime
  private let logger: Logger
  private let store = LoadStore()
  private let state = Locked(State())

  /// `channel` is that of the control plane, which ends with it.
  init(
    _ channel: Channel,
    _ token: TokenFile?,
    _ node: Envoy_Config_Core_V3_Node,
    _ time: any CallTime,
    _ logger: Logger
  ) {
    self.channel = channel
    self.token = token
    self.node = node.reporting
    self.time = time
    self.logger = logger
  }

  /// Reports the calls of a cluster until the lease is released. `service` is the name of its endpoints, if that is another.
  func lease(_ cluster: String, _ service: String) -> LoadLease {
    state.withLock { state in
      let load = store.use(cluster, service, at: time.now)
      if state.running == nil, !state.isEnded {
        state.running = Task(executorPreference: channel.eventLoop) { await self.run() }
      }
      return LoadLease(load) { self.release(load) }
    }
  }

  private func release(_ load: ClusterLoad) {
    state.withLock { state in
      guard store.release(load) else { return }
      state.running?.cancel()
      state.running = nil
    }
  }

  func end() {
    state.withLock { state in
      state.isEnded = true
      state.running?.cancel()
      state.running = nil
    }
  }

  /// Keeps a stream open, until the task is cancelled.
  private func run() async {
    var backoff = Backoff(initial: .seconds(1), maximum: .seconds(120))
    var random = SystemRandomNumberGenerator()
    while !Task.isCancelled {
      let (status, hasServed) = await serve()
      guard !Task.isCancelled else { return }
      logger.log(hasServed ? .info : .warning, "the stream of load reports has ended: \(status)")
      if hasServed { backoff.reset() }
      let next = time.now.advanced(by: backoff.next(using: &random))
      guard (try? await time.sleep(until: next, on: channel.eventLoop)) != nil else { return }
    }
  }

  /// One stream, to its end. Returns how it ended, and whether the control plane has said something.
  private func serve() async -> (GRPCStatus, hasServed: Bool) {
    let client = Envoy_Service_LoadStats_V3_LoadReportingServiceClient(channel: channel)
    var options = CallOptions()
    options.authTokenProvider = token
    options.responseSizeLimit = Self.responseSizeLimit
    let call = client.makeStreamLoadStatsCall(callOptions: options)
    defer { call.cancel() }
    var order: LoadOrder?
    var reporting: Task<Void, Never>?
    defer { reporting?.cancel() }
    do {
      try await call.requestStream.send(.with { $0.node = node })
      for try await response in call.responseStream {
        let wanted = LoadOrder(response)
        guard wanted != order else { continue }
        order = wanted
        reporting?.cancel()
        await reporting?.value
        reporting = Task(executorPreference: channel.eventLoop) { [self] in
          await report(wanted, to: call.requestStream)
        }
      }
      return (await call.status, order != nil)
    } catch {
      return ((error as? GRPCStatus) ?? GRPCStatus(code: .unknown, message: "\(error)"), order != nil)
    }
  }

  /// Reports at each interval, until the stream ends or the control plane wants something else.
  private func report(
    _ order: LoadOrder,
    to stream: RequestStreamWriter<Envoy_Service_LoadStats_V3_LoadStatsRequest>
  ) async {
    while !Task.isCancelled {
      let next = time.now.advanced(by: order.interval)
      guard (try? await time.sleep(until: next, on: channel.eventLoop)) != nil else { return }
      let stats = store.report(order, at: time.now)
      guard (try? await stream.send(.with { $0.clusterStats = stats })) != nil else { return }
    }
  }
}

/// The calls of a cluster, which are reported until this is released.
final class LoadLease: Sendable {
  let load: ClusterLoad
  private let ended: @Sendable () -> Void

  init(_ load: ClusterLoad, _ ended: @escaping @Sendable () -> Void) {
    self.load = load
    self.ended = ended
  }

  deinit { ended() }
}

extension Envoy_Config_Core_V3_Node {
  /// That of a client that reports all clusters if it is asked to.
  fileprivate var reporting: Self {
    var node = self
    node.clientFeatures.append("envoy.lrs.supports_send_all_clusters")
    return node
  }
}
