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

  /// The most levels of methods that are shown.
  private static let mostMethods = 100

  /// The methods whose calls have levels of their own, by server.
  var methodLogs: [Switchboard_Console_V1_MethodLog] {
    var logs: [Switchboard_Console_V1_MethodLog] = []
    for known in entries.servers {
      let id = NodeID(.server, known.id).text
      for (path, level) in known.server.logger.methodLevels.sorted(by: { $0.path.precedes($1.path) }) {
        guard logs.count < Self.mostMethods else { return logs }
        logs.append(
          .with {
            ($0.id, $0.name) = (id, known.name.isEmpty ? id : known.name)
            ($0.method, $0.level) = (ServedMethods.name(path), "\(level)")
          }
        )
      }
    }
    return logs
  }

  /// Sets the level of one method's calls on these servers, or on all that serve it; `nil`: that of the server holds again.
  /// Throws, and changes nothing, if one is not shown or does not serve it. Returns how many servers there are.
  func set(_ level: LogLevel?, ofMethod name: String, on ids: [NodeID]?) throws(GRPCStatus) -> Int {
    let path = "/\(name)"
    let serving = entries.servers.filter { known in
      known.server.methodPaths.values.contains { $0.isExactly(path) }
    }
    let wanted = ids.map { ids in serving.filter { ids.contains(NodeID(.server, $0.id)) } } ?? serving
    if let ids, wanted.count != Set(ids).count {
      throw GRPCStatus(code: .notFound, message: "one of these IDs is not of a server that has this method")
    }
    if wanted.isEmpty { throw ServedMethods(entries).unknown(name) }
    for known in wanted where !known.server.logger.setLevel(level, ofMethod: path) {
      throw GRPCStatus(
        code: .resourceExhausted,
        message: "\(Logger.mostMethodLevels) methods of the server have levels of their own: end one of them"
      )
    }
    return wanted.count
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

/// Changes from which level on servers and channels log, or the calls of one method.
struct LogLevelAction: ConsoleAction {
  static let name = "log-level"
  static let permission = ConsolePermission.logLevel

  let levels: LogLevels

  func summary(of request: Switchboard_Console_V1_LogLevelRequest) -> String? {
    let names =
      request.ids.isEmpty ? "all servers and channels" : request.ids.prefix(20).joined(separator: ", ")
    guard !request.method.isEmpty else { return "log \(names) from the level \(request.level) on" }
    let servers = request.ids.isEmpty ? "all servers" : names
    return request.level.isEmpty
      ? "log calls of \(request.method) on \(servers) as the rest"
      : "log calls of \(request.method) on \(servers) from the level \(request.level) on"
  }

  func perform(_ request: Switchboard_Console_V1_LogLevelRequest) async throws(GRPCStatus)
    -> Switchboard_Console_V1_LogLevelAnswer
  {
    let level = LogLevel.allCases.first { "\($0)".utf8.elementsEqual(request.level.utf8) }
    guard level != nil || request.level.isEmpty && !request.method.isEmpty else {
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
    let some = ids.isEmpty ? nil : ids
    let count: Int
    if request.method.isEmpty, let level {
      count = try levels.set(level, of: some)
    } else {
      try ServedMethods.check(request.method)
      count = try levels.set(level, ofMethod: request.method, on: some)
    }
    return .with { $0.changed = UInt32(clamping: count) }
  }
}
