import ConsoleMessages
import SwitchboardProtobuf
import SwitchboardServices

/// What a server of another process tells of what it does.
struct RemoteNow: NowSource {
  let remote: RemoteServer
  let watch: RemoteWatch
  let health: RemoteHealth

  var waitsFor: String { "health" }

  func fill(_ view: inout Switchboard_Console_V1_NowView) async {
    view.process.name = remote.peer.text
    view.process.time = .now()
    view.health = await health.statuses()
    if watch.latest == nil, watch.problem.isEmpty { await watch.look() }
    view.missing = watch.problem
    guard let latest = watch.latest else { return }
    view.remark =
      "channelz counts the calls of a server as a whole: it knows no methods, no durations, no memory and no event loops"
    for server in latest.servers {
      view.servers.append(
        .with {
          $0.name = server.ref.name
          $0.addresses = server.listenSocket.map(\.name)
          $0.callsStarted = UInt64(clamping: server.data.callsStarted)
          $0.callsFailed = UInt64(clamping: server.data.callsFailed)
        }
      )
    }
  }

  func calls(of side: ViewQuery.Side) -> CallHistory? { watch.calls(of: side) }
}
