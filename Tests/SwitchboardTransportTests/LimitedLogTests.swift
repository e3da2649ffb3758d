import CallTestSupport
import HTTP2TestSupport
import SwitchboardCall
import TestSupport
import Testing

@testable import SwitchboardNetwork
@testable import SwitchboardTransport

/// What peers can cause at will does not fill the log.
@Suite(.mayBlock, .timeLimit(.minutes(5))) struct LimitedLogTests {
  /// A log, its entries, and the loop whose clock it has.
  private static func with(
    _ level: LogLevel = .trace,
    _ body: (LimitedLog, LogEntries, Loop) async throws -> Void
  ) async throws {
    let entries = LogEntries()
    let group = try LoopGroup()
    let log = LimitedLog(Logger(entries, minimumLevel: level), .error, "bad")
    try await body(log, entries, group.loops[0])
  }

  /// All in one turn of the loop, whose clock moves meanwhile by less than a second, unless the machine stands still.
  private static func write(_ numbers: Range<Int>, to log: LimitedLog, on loop: Loop) async {
    await loop.onLoop { for number in numbers { log.log(["number": "\(number)"], on: loop) } }
  }

  @Test func theFirstAndTheLastOfASecondAreLines() async throws {
    try await Self.with { log, entries, loop in
      await Self.write(0..<100, to: log, on: loop)
      #expect(entries.all.first?.level == .error)
      #expect(entries.all.first?.metadata == ["number": "0"])
      await loop.advance(by: .seconds(1))
      let lines = entries.all(from: .error)
      #expect(lines.count < 10)
      #expect(lines.last?.metadata["number"] == "99")
      #expect(lines.reduce(0) { $0 + $1.times } == 100)
      let others = entries.all.filter { $0.level == .info }
      #expect(others.count >= 100 - lines.count)
      #expect(others.allSatisfy { $0.message == "bad" && $0.metadata["times"] == nil })
      // Nothing is left.
      await loop.advance(by: .seconds(10))
      #expect(entries.all(from: .error).count == lines.count)
      await Self.write(100..<101, to: log, on: loop)
      #expect(entries.all.last?.level == .error)
      #expect(entries.all.last?.metadata == ["number": "100"])
    }
  }

  /// What a loop that has ended does not write is in the next line.
  @Test func nothingIsLostWithALoop() async throws {
    let other = try LoopGroup()
    try await Self.with { log, entries, loop in
      await Self.write(0..<100, to: log, on: loop)
      loop.stop()
      while !Task.isCancelled, await loop.onLoop({ !loop.hasEnded }) { await Task.yield() }
      await other.loops[0].advance(by: .seconds(2))
      await Self.write(100..<101, to: log, on: other.loops[0])
      #expect(entries.all(from: .error).reduce(0) { $0 + $1.times } == 101)
      #expect(entries.all.last?.metadata["number"] == "100")
    }
  }

  @Test func theRestIsWrittenAtTheEnd() async throws {
    try await Self.with { log, entries, loop in
      await Self.write(0..<100, to: log, on: loop)
      log.writeRest()
      let lines = entries.all(from: .error)
      #expect(lines.reduce(0) { $0 + $1.times } == 100)
      #expect(lines.last?.metadata["number"] == "99")
      log.writeRest()
      await loop.advance(by: .seconds(2))
      #expect(entries.all(from: .error).count == lines.count)
    }
  }

  @Test func aQuietLoggerCountsNothing() async throws {
    let group = try LoopGroup()
    let log = LimitedLog(.quiet, .error, "bad")
    @Sendable func details() -> LimitedLog.Details {
      Issue.record("details were made")
      return [:]
    }
    log.log(details(), on: group.loops[0])
  }

  // MARK: In a server

  /// Connections that end before their clients speak HTTP/2.
  @Test func brokenConnectionsAreCounted() async throws {
    let entries = LogEntries()
    let started = ContinuousClock.now
    var options = ServerOptions()
    options.logger = Logger(entries, minimumLevel: .info)
    // Other processes may hold the loop.
    options.blockedLoopLimit = nil
    let group = try LoopGroup()
    try await TestPair.with(server: options, serverGroup: group) { pair async throws in
      for _ in 0..<50 {
        let peer = try RawPeer(pair.address)
        peer.send(Array("nonsense, but longer than the preface".utf8))
        #expect(peer.readToEnd())
      }
      let core = pair.server.core
      await group.loops[0].until { core.connections.isEmpty }
      await group.loops[0].advance(by: .seconds(1))
      let lines = entries.all(from: .warning)
      #expect(Set(lines.map(\.message)) == ["connection closed"])
      #expect(lines.allSatisfy { $0.level == .warning && $0.metadata["peer"] != nil })
      #expect(lines.reduce(0) { $0 + $1.times } == 50)
      let seconds = (ContinuousClock.now - started) / .seconds(1)
      #expect(Double(lines.count) <= seconds + 2)
      #expect(
        entries.all.count { $0.message == "connection closed" && $0.level == .info } >= 50 - lines.count
      )
    }
  }
}
