import ConsoleMessages
import SwitchboardCall
import SwitchboardProtobuf
import SwitchboardTransport

/// Shuts a server down, as `Server.shutDown` does: it accepts no more calls, and lets those in progress end.
struct DrainAction: ConsoleAction {
  static let name = "drain"
  static let permission = ConsolePermission.drain

  let entries: ConsoleEntries
  /// The console's own loop: the process may be too busy to run anything else soon.
  let loop: any EventLoop

  func summary(of request: Switchboard_Console_V1_DrainRequest) -> String? { "drain \(request.server)" }

  /// Does not wait for the calls in progress, which the view of connections shows.
  func perform(_ request: Switchboard_Console_V1_DrainRequest) async throws(GRPCStatus)
    -> Switchboard_Console_V1_DrainAnswer
  {
    guard (0...3600).contains(request.graceSeconds) else {
      throw GRPCStatus(code: .invalidArgument, message: "graceSeconds is a number from 0 to 3600")
    }
    let id = NodeID(Array(request.server.utf8))
    guard let id, id.kind == .server, let known = entries.servers.first(where: { $0.id == id.owner }) else {
      throw GRPCStatus(code: .notFound, message: "the console shows no server with this ID")
    }
    let grace = Duration.milliseconds(Int64(request.graceSeconds * 1000))
    Task.detached(executorPreference: loop) { await known.server.shutDown(grace: grace) }
    return Switchboard_Console_V1_DrainAnswer()
  }
}
