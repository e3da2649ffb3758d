import SwitchboardCall
import SwitchboardServices
import SwitchboardTelemetry

/// Keeps what a server of another process counts, which it asks for every few seconds.
final class RemoteWatch: Sendable {
  private struct State: Sendable {
    var server: CallHistory
    var client: CallHistory
    var last: ContinuousClock.Instant?
    var latest: ChannelzInventory?
    /// Why there is nothing newer.
    var problem = ""
  }

  private let remote: RemoteServer
  private let clock: ConsoleClock
  private let state: Locked<State>

  init(_ remote: RemoteServer, limit: Int, _ clock: ConsoleClock) {
    self.remote = remote
    self.clock = clock
    state = Locked(State(server: CallHistory(limit: limit), client: CallHistory(limit: limit)))
  }

  var latest: ChannelzInventory? { state.withLock(\.latest) }
  var problem: String { state.withLock(\.problem) }

  func calls(of side: ViewQuery.Side) -> CallHistory? {
    state.withLock { state in
      guard state.last != nil else { return nil }
      return side == .server ? state.server : state.client
    }
  }

  /// Ends a period. A server that does not answer in time has told nothing.
  func look() async { await clock.stopping(after: RemoteServer.patience) { await self.ask() } }

  private func ask() async {
    do {
      let found = try await remote.channelz.readTop()
      let now = clock.time.now
      let (servers, clients) = (found.servers.map(MethodTotals.init), found.channels.map(MethodTotals.init))
      state.withLock { state in
        if let last = state.last {
          let seconds = max(0.001, last.duration(to: now) / .seconds(1))
          state.server.add(servers, seconds: seconds)
          state.client.add(clients, seconds: seconds)
        } else {
          state.server.begin(servers)
          state.client.begin(clients)
        }
        (state.last, state.latest, state.problem) = (now, found, "")
      }
    } catch {
      let problem = remote.reason(error)
      state.withLock { $0.problem = problem }
    }
  }
}

extension MethodTotals {
  fileprivate init(_ server: Grpc_Channelz_V1_Server) {
    let data = server.data
    self.init(
      server.ref.name.isEmpty ? "server \(server.ref.serverID)" : server.ref.name,
      target: "",
      data.callsStarted,
      data.callsSucceeded,
      data.callsFailed
    )
  }

  fileprivate init(_ channel: Grpc_Channelz_V1_Channel) {
    let data = channel.data
    self.init(
      channel.ref.name.isEmpty ? "channel \(channel.ref.channelID)" : channel.ref.name,
      target: data.target,
      data.callsStarted,
      data.callsSucceeded,
      data.callsFailed
    )
  }

  /// What a server says may be anything.
  private init(_ name: String, target: String, _ started: Int64, _ succeeded: Int64, _ failed: Int64) {
    let (finished, _) = UInt64(clamping: succeeded).addingReportingOverflow(UInt64(clamping: failed))
    self.init(
      method: name,
      target: target,
      started: UInt64(clamping: started),
      finished: finished,
      failed: UInt64(clamping: failed)
    )
  }
}
