import Foundation
import SwitchboardCall
import SwitchboardXDS
import TestSupport
import Testing

/// The control plane of `Peers/control_plane.py`, which a test commands.
final class PlanePeer: Sendable {
  /// What a client has asked for.
  struct Event: Decodable, Sendable {
    let event: String
    let type: String
    let names: [String]
    let version: String
    let reason: String
    let node: String
    let token: String
    /// What a report says of clusters.
    let load: [Load]?
  }

  /// The calls to a cluster, by a report.
  struct Load: Decodable, Sendable {
    /// The calls to a place. A metric is the number of calls that had it, and the sum.
    struct Place: Decodable, Equatable, Sendable {
      var issued = 0
      var succeeded = 0
      var failed = 0
      var current = 0
      var metrics: [String: [Double]] = [:]

      fileprivate mutating func add(_ later: Place) {
        issued += later.issued
        succeeded += later.succeeded
        failed += later.failed
        current = later.current
        metrics.merge(later.metrics) { [$0[0] + $1[0], $0[1] + $1[1]] }
      }
    }

    var cluster: String
    var service: String
    var seconds = 0.0
    var dropped = 0
    var drops: [String: Int] = [:]
    /// By zone.
    var places: [String: Place] = [:]

    /// Adds a later report. Returns how many calls have ended in it.
    fileprivate mutating func add(_ later: Load) -> Int {
      service = later.service
      dropped += later.dropped
      drops.merge(later.drops, uniquingKeysWith: +)
      for (zone, place) in later.places { places[zone, default: .init()].add(place) }
      return later.places.values.reduce(later.dropped) { $0 + $1.succeeded + $1.failed }
    }
  }

  private struct Line: Decodable {
    let port: Int?
    let done: Int?
  }

  let port: Int
  private let process: ChildProcess
  private let events = Locked<[Event]>([])
  private let commands = Locked(0)

  init(port: Int = 0) throws {
    let script = TestFolders.peers().appending(path: "control_plane.py").path
    process = try ChildProcess(TestFolders.python, [script, "\(port)"])
    let line = try #require(process.line())
    self.port = try #require(try JSONDecoder().decode(Line.self, from: Data(line.utf8)).port)
  }

  /// Gives a command, and waits until it is obeyed.
  func command(_ command: [String: Any]) throws {
    let text = String(decoding: try JSONSerialization.data(withJSONObject: command), as: UTF8.self)
    process.write(text + "\n")
    let number = commands.withLock { count in
      count += 1
      return count - 1
    }
    _ = try until { $0.done == number }
  }

  func set(_ mesh: Mesh) throws {
    try command(["version": mesh.version, "resources": mesh.resources])
  }

  /// Waits for an event that there was not yet.
  @discardableResult
  func next(_ event: String, _ type: String, where fits: (Event) -> Bool = { _ in true }) throws -> Event {
    try next("\(event) \(type)") { $0.event == event && $0.type == type && fits($0) }
  }

  /// Waits for an answer to resources of these names that there was not yet.
  func nextAnswer(_ type: String, _ names: [String]) throws -> Event {
    try next("an answer to \(type)") { $0.event != "asked" && $0.type == type && $0.names == names }
  }

  /// How many such events have come and were not asked for yet.
  func waiting(_ event: String) throws -> Int {
    try command([:])
    return events.withLock { events in events.count { $0.event == event } }
  }

  /// Why resources were refused, where that has not been asked for yet.
  func refusals() throws -> [String] {
    try command([:])
    return events.withLock { $0.filter { $0.event == "refused" }.map(\.reason) }
  }

  /// Waits for a stream of reports, or for a report.
  func nextLoad(_ event: String, _ fits: (Event) -> Bool = { _ in true }) throws -> Event {
    try next("a report") { $0.event == event && fits($0) }
  }

  /// The sum of the reports of a cluster, until there are so many calls in them; of one node, if it is named.
  func load(of cluster: String, calls: Int, by node: String? = nil) throws -> Load {
    var sum = Load(cluster: cluster, service: "")
    var ended = 0
    while ended < calls {
      // Reports come all the time, whatever is in them.
      try Task.checkCancellation()
      let report = try nextLoad("reported") { node == nil || $0.node == node }
      for load in report.load ?? [] where load.cluster == cluster { ended += sum.add(load) }
    }
    sum.places = sum.places.filter { $0.value.issued > 0 }
    return sum
  }

  private func next(_ what: String, where isWanted: (Event) -> Bool) throws -> Event {
    let found: Event? = events.withLock { events in
      events.firstIndex(where: isWanted).map { events.remove(at: $0) }
    }
    if let found { return found }
    while let line = process.line() {
      guard let one = try? JSONDecoder().decode(Event.self, from: Data(line.utf8)) else { continue }
      if isWanted(one) { return one }
      events.withLock { $0.append(one) }
    }
    throw Missing(what: what)
  }

  private func until(_ isLast: (Line) -> Bool) throws {
    while let text = process.line() {
      let data = Data(text.utf8)
      if let event = try? JSONDecoder().decode(Event.self, from: data) {
        events.withLock { $0.append(event) }
      } else if isLast(try JSONDecoder().decode(Line.self, from: data)) {
        return
      }
    }
    throw Missing(what: "an answer to a command")
  }

  func kill() { process.end(with: SIGKILL) }

  var bootstrap: XDSBootstrap {
    XDSBootstrap(
      servers: [XDSBootstrap.Server("127.0.0.1:\(port)", security: .plaintext)],
      node: XDSBootstrap.Node(id: "test-client", cluster: "tests")
    )
  }

  struct Missing: Error { let what: String }
}
