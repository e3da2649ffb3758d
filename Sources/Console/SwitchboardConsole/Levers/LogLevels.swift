import ConsoleMessages
import SwitchboardCall

/// The logs of the servers and channels that a console shows, whose levels can be changed.
final class LogLevels: Sendable {
  private struct Entry: Sendable {
    let id: NodeID
    let name: String
    let logger: Logger
  }

  private let entries: ConsoleEntries
  /// The levels with which those were made that were changed.
  private let standards = Locked<[NodeID: LogLevel]>([:])

  init(_ entries: ConsoleEntries) { self.entries = entries }

  private var all: [Entry] {
    entries.servers.map { Entry(id: NodeID(.server, $0.id), name: $0.name, logger: $0.server.logger) }
      + entries.channels.compactMap { known in
        guard let logger = known.channel.connectionLogger else { return nil }
        let name = known.name.isEmpty ? known.channel.transport.host : known.name
        return Entry(id: NodeID(.channel, known.id), name: name, logger: logger)
      }
  }

  /// Those whose names the query includes.
  func logs(_ query: ViewQuery) -> [Switchboard_Console_V1_Log] {
    let standards = standards.withLock { $0 }
    return all.filter { query.includes($0.name) }.map { entry in
      .with {
        ($0.id, $0.name) = (entry.id.text, entry.name.isEmpty ? entry.id.text : entry.name)
        $0.level = "\(entry.logger.minimumLevel)"
        $0.standard = "\(standards[entry.id] ?? entry.logger.minimumLevel)"
        if entry.logger.handler == nil { $0.quiet = "it has no handler: its options say Logger.quiet" }
      }
    }
  }

  /// Sets the level of these, or of all. Throws, and changes nothing, if one is not shown. Returns how many there are.
  func set(_ level: LogLevel, of ids: [NodeID]?) throws(GRPCStatus) -> Int {
    let all = all
    let wanted = ids.map { ids in all.filter { ids.contains($0.id) } } ?? all
    if let ids, wanted.count != Set(ids).count {
      throw GRPCStatus(
        code: .notFound,
        message: "the console shows no server or channel with one of these IDs"
      )
    }
    let known = Set(all.map(\.id))
    standards.withLock { standards in
      standards = standards.filter { known.contains($0.key) }
      for entry in wanted where standards[entry.id] == nil { standards[entry.id] = entry.logger.minimumLevel }
    }
    for entry in wanted { entry.logger.setLevel(level) }
    return wanted.count
  }
}

/// Changes from which level on servers and channels log.
struct LogLevelAction: ConsoleAction {
  static let name = "log-level"
  static let permission = ConsolePermission.logLevel

  let levels: LogLevels

  func summary(of request: Switchboard_Console_V1_LogLevelRequest) -> String? {
    let names =
      request.ids.isEmpty ? "all servers and channels" : request.ids.prefix(20).joined(separator: ", ")
    return "log \(names) from the level \(request.level) on"
  }

  func perform(_ request: Switchboard_Console_V1_LogLevelRequest) async throws(GRPCStatus)
    -> Switchboard_Console_V1_LogLevelAnswer
  {
    guard let level = LogLevel.allCases.first(where: { "\($0)".utf8.elementsEqual(request.level.utf8) })
    else {
      let names = LogLevel.allCases.map { "\($0)" }.joined(separator: ", ")
      throw GRPCStatus(code: .invalidArgument, message: "level is one of: \(names)")
    }
    var ids: [NodeID] = []
    for text in request.ids {
      guard let id = NodeID(Array(text.utf8)) else {
        throw GRPCStatus(
          code: .invalidArgument,
          message: "ids are those of servers and channels, such as server-1"
        )
      }
      ids.append(id)
    }
    let count = try levels.set(level, of: ids.isEmpty ? nil : ids)
    return .with { $0.changed = UInt32(clamping: count) }
  }
}
