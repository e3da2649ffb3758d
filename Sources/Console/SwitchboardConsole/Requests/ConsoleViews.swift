import ConsoleMessages
import SwitchboardCall
import SwitchboardNetwork
import SwitchboardProtobuf
import SwitchboardTelemetry
import SwitchboardTransport

/// The views of a console, and what they are made of.
final class ConsoleViews: Sendable {
  let entries = ConsoleEntries()
  private let calls: CallWatch?
  private let loops: LoopWatch
  private let now: NowView
  private let connections: ConnectionsView

  init(_ telemetry: Telemetry?, maxMethods: Int, _ time: any CallTime) {
    calls = telemetry.map { CallWatch($0, limit: maxMethods, time) }
    loops = LoopWatch(time)
    now = NowView(
      telemetry: telemetry,
      calls: calls,
      loops: loops,
      entries: entries,
      time: time,
      start: time.now
    )
    connections = ConnectionsView(entries: entries)
  }

  /// Looks at what goes on every few seconds, until the task is cancelled.
  func watch(_ time: any CallTime, on loop: any EventLoop) async {
    var next = time.now
    while !Task.isCancelled {
      next = max(next.advanced(by: .seconds(CallHistory.step)), time.now)
      guard (try? await time.sleep(until: next, on: loop)) != nil else { return }
      await look()
    }
  }

  /// Ends a period.
  func look() async {
    calls?.look()
    var used: [ServerSnapshot.LoopUse] = []
    for known in entries.servers { used += await known.server.snapshot(listsConnections: false).loops }
    loops.look(at: used)
  }

  // MARK: Pages

  /// The names of the views, which are their paths below the page's.
  static let names = ["now", "connections"]

  func pages(at place: ConsolePlace, _ access: ConsoleAccess.Check, _ answers: SharedAnswers) -> [HTTPPage] {
    Self.names.map { name in
      HTTPPage("GET", place.path(name)) { [self] request in
        // Whoever opens the path in a browser wants the page, which then asks for the view.
        if ConsoleAssets.isWanted(by: request) { return ConsoleAssets.page(at: place) }
        if let refusal = await access.refusal(of: request) { return refusal }
        return await answers.answer(to: "\(name)?\(request.query ?? "")") {
          await self.answer(name, request.query)
        }
      }
    }
  }

  private func answer(_ name: String, _ text: String?) async -> HTTPPage.Response {
    do {
      let query = try ViewQuery(text)
      switch name {
      case "now": return .json(try await now.answer(query).jsonUTF8Bytes())
      default: return .json(try await connections.answer(query).jsonUTF8Bytes())
      }
    } catch let mistake as ViewQuery.Mistake {
      return .text(400, mistake.text)
    } catch {
      // A message of ours is always written.
      return .text(500, "the view cannot be written: \(error)")
    }
  }
}
