import ConsoleMessages

/// A line of the tree of connections. There may be ten thousand of them, of which few are asked for: only of these there are
/// messages.
struct ConnectionLine: Sendable {
  let id: NodeID
  let level: UInt32
  let name: String
  var state = ""
  var started: UInt64 = 0
  var failed: UInt64 = 0
  /// How many lines are below it.
  var children: UInt32 = 0

  init(_ id: NodeID, _ level: UInt32, _ name: String) {
    (self.id, self.level) = (id, level)
    self.name = name.isEmpty ? id.kind.rawValue : name
  }

  /// Whether the query leaves out what is below it.
  func isClosed(in query: ViewQuery) -> Bool {
    !query.closed.isEmpty && query.closed.contains(Array(id.text.utf8))
  }

  var message: Switchboard_Console_V1_Node {
    .with {
      ($0.id, $0.kind, $0.level, $0.name) = (id.text, id.kind.shown, level, name)
      ($0.state, $0.children) = (state, children)
      ($0.callsStarted, $0.callsFailed) = (started, failed)
    }
  }
}
