// unsafe: connections of a loop, which only that loop looks at

import SwitchboardCall
import SwitchboardNetwork

extension Server {
  /// The calls in progress that the server's observer follows, and that `isWanted`: at most `limit` of each loop.
  ///
  /// They are found where the connections keep their streams, some connections at a time.
  package func callsInProgress(
    limit: Int,
    _ isWanted: @escaping @Sendable (MethodDescriptor, _ start: UInt64) -> Bool
  ) async -> CallsInProgress {
    let core = core
    var calls = CallsInProgress()
    for loop in core.group.loops {
      let walk = await loop.find { CallWalk(core.connections(of: loop), limit, isWanted) }
      guard let walk else { continue }
      while await loop.find({ walk.goOn() }) == true {}
      guard let found = await loop.find({ walk.found }) else { continue }
      calls.oldest += found.oldest
      calls.count += found.count
    }
    return calls
  }
}

/// Looks for calls on the connections of a loop.
private final class CallWalk: @unchecked Sendable {
  // Sendable because only the loop uses it.
  private var connections: ArraySlice<ServerConnection>
  private var calls: OldestCalls<ServerCallStream>
  private let isWanted: @Sendable (MethodDescriptor, _ start: UInt64) -> Bool

  /// How many streams are looked at in a turn of the loop, before the next turn goes on.
  private static let streamsAtOnce = 300

  init(
    _ connections: [ServerConnection],
    _ limit: Int,
    _ isWanted: @escaping @Sendable (MethodDescriptor, _ start: UInt64) -> Bool
  ) {
    self.connections = connections[...]
    calls = OldestCalls(limit: limit)
    self.isWanted = isWanted
  }

  /// Looks at some connections. Returns whether there are more.
  func goOn() -> Bool {
    var seen = 0
    func look(at entry: StreamEntry) {
      seen += 1
      guard let stream = entry as? ServerCallStream, let method = stream.methodInProgress else { return }
      let start = stream.trace.stamp.start
      if isWanted(method, start) { calls.add(stream, start: start) }
    }
    while seen < Self.streamsAtOnce, let connection = connections.popFirst() {
      seen += 1
      if !connection.isClosed { connection.parts.streams.forEach(look) }
    }
    return !connections.isEmpty
  }

  /// What was found, of which some may have ended by now.
  var found: CallsInProgress {
    let count = calls.count
    return CallsInProgress(oldest: calls.take().compactMap(\.callSnapshot), count: count)
  }
}

extension ServerCallStream {
  /// The method of a call that is observed and has not ended.
  fileprivate var methodInProgress: MethodDescriptor? {
    guard isTraced, trace.stamp.start > 0, stage != nil else { return nil }
    return head.method?.descriptor
  }

  private var stage: CallSnapshot.Stage? {
    switch phase {
    case .receiving: .receivesRequest
    case .handling: .isServed
    case .ending: .sendsResponse
    case .head, .refusing, .closed: nil
    }
  }

  fileprivate var callSnapshot: CallSnapshot? {
    guard let method = methodInProgress, let stage else { return nil }
    return CallSnapshot(
      method: method,
      peer: connection.peer.address,
      stage: stage,
      stamp: trace.stamp,
      tracer: trace.tracer,
      headers: head.plainMetadata,
      sent: response.body.totals,
      received: inbound.totals,
      previousAttempts: 0
    )
  }
}
