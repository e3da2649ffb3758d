import BenchService
import Switchboard

/// Servers, channels and callers for some seconds; nothing of them may remain afterwards.
struct SoakRound: Sendable {
  let ledger: SoakLedger
  let held: HeldObjects
  let isSecure: Bool

  private static let callers = 6

  func run(for length: Duration) async throws {
    let end = ContinuousClock.now + length
    let rolling = [try server(), try server()]
    let battered = try server()
    let careful = try channel("ipv4:" + rolling.map { "127.0.0.1:\($0.port)" }.joined(separator: ","))
    let rough = try channel("127.0.0.1:\(battered.port)")
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await roll(rolling, until: end) }
      group.addTask { try await batter(battered, until: end) }
      for _ in 0..<Self.callers {
        group.addTask { await call(careful, .careful, until: end) }
        group.addTask { await call(rough, .rough, until: end) }
      }
      try await group.waitForAll()
    }
    for channel in [careful, rough] { await channel.shutDown(grace: .seconds(10)) }
    for server in rolling + [battered] { await server.stop() }
  }

  private func server() throws -> SoakServer {
    held.watch(try SoakServer(ledger: ledger, held: held, isSecure: isSecure))
  }

  private func channel(_ target: String) throws -> Channel {
    var options = ChannelOptions()
    options.observer = ledger
    options.connectInitialBackoff = .milliseconds(5)
    options.connectMaxBackoff = .milliseconds(50)
    if isSecure { options.security = .tls(BenchTLS.trust) }
    return held.watch(try Channel(target: target, options: options, group: held.watchedGroup()))
  }

  /// Restarts one server after the other, with time for its calls to end.
  private func roll(_ servers: [SoakServer], until end: ContinuousClock.Instant) async throws {
    while ContinuousClock.now < end {
      for server in servers {
        try await Task.sleep(for: .milliseconds(Int.random(in: 50..<300)))
        try await server.restart(grace: .seconds(30))
        ledger.count("rolling restarts")
      }
    }
  }

  /// Cuts a server's connections, and occasionally shuts it down without a grace period.
  private func batter(_ server: SoakServer, until end: ContinuousClock.Instant) async throws {
    while ContinuousClock.now < end {
      try await Task.sleep(for: .milliseconds(Int.random(in: 50..<300)))
      if Int.random(in: 0..<4) == 0 {
        try await server.restart(grace: .zero)
        ledger.count("hard restarts")
      } else {
        ledger.count("cut connections", server.cutConnections())
      }
    }
  }

  /// Makes the calls of one caller, one after the other.
  private func call(
    _ channel: Channel,
    _ lane: SoakLedger.Lane,
    until end: ContinuousClock.Instant
  ) async {
    let client = Bench_BenchClient(channel: channel)
    var options = CallOptions()
    options.waitForReady = lane == .careful
    // A call that takes this long is lost.
    options.timeout = .seconds(60)
    while ContinuousClock.now < end {
      let call = SoakCall.random(hasFaults: lane == .rough)
      ledger.started(lane)
      var status = GRPCStatus.ok
      do { try await call.make(on: client, options: options) } catch {
        status = GRPCStatus(describing: error)
      }
      // Servers that are cut off explain `unavailable`, but only for the rough calls.
      let isExpected = call.mayEnd(with: status.code) || lane == .rough && status.code == .unavailable
      ledger.ended(lane, status, isExpected: isExpected, call)
    }
  }
}
