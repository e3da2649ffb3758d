import FaultSupport
import Foundation
import Switchboard
import TestSupport
import Testing

/// Calls of all kinds with random faults, the same in every run: each call ends once, on both sides, with a status that
/// the faults explain.
@Suite(.mayBlock, .timeLimit(.minutes(5))) struct OutcomeTests {
  /// A random number generator with a seed.
  private struct Dice: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
      state &+= 0x9e37_79b9_7f4a_7c15
      var word = state
      word = (word ^ (word >> 30)) &* 0xbf58_476d_1ce4_e5b9
      word = (word ^ (word >> 27)) &* 0x94d0_49bb_1331_11eb
      return word ^ (word >> 31)
    }
  }

  /// The fault injected into a call.
  private enum Fate: CaseIterable {
    case none, waits, cancelled, short
  }

  private enum Fault: CaseIterable {
    case cut, silence, frozen, killed
  }

  @Test(arguments: [1, 2] as [UInt64]) func faultsInAnotherProcessEndCallsAsExpected(_ seed: UInt64)
    async throws
  {
    var server = try InteropProcess.start()
    let relay = try Relay(to: server.port)
    try await withFaults(relay, seed) { fault in
      switch fault {
      case .cut: await relay.cut()
      case .silence: await relay.stall()
      case .frozen: server.program.send(SIGSTOP)
      case .killed: server.kill()
      }
    } mend: { fault in
      if fault == .killed {
        server = try InteropProcess.start()
        await relay.lead(to: server.port)
      }
      server.program.send(SIGCONT)
    }
    server.kill()
  }

  /// A server whose record of calls can be inspected.
  @Test(arguments: [3] as [UInt64]) func faultsEndEachCallOnceOnBothSides(_ seed: UInt64) async throws {
    let ledger = Ledger()
    var server = try Self.server(ledger)
    let relay = try Relay(to: server.port)
    try await withFaults(relay, seed) { fault in
      switch fault {
      case .cut: await relay.cut()
      case .silence, .frozen: await relay.stall()
      case .killed:
        await server.server.shutDown(grace: .zero)
        server = try Self.server(ledger)
        await relay.lead(to: server.port)
      }
    }
    await ledger.until { $0.isEven && $0.connections == 0 }
    #expect(ledger.books.started > 0)
    await server.server.shutDown(grace: .zero)
  }

  private static func server(_ ledger: Ledger) throws -> (server: Server, port: Int) {
    var options = ServerOptions()
    options.observer = ledger
    let server = try Server(providers: [LingeringProvider(.none)], options: options)
    return (server, try server.bind(host: "127.0.0.1", port: 0).port)
  }

  /// Makes calls through the relay while faults are injected and removed one after the other. This restores the relay
  /// and stops it at the end.
  private func withFaults(
    _ relay: Relay,
    _ seed: UInt64,
    make: (Fault) async throws -> Void,
    mend: (Fault) async throws -> Void = { _ in }
  ) async throws {
    defer { relay.stop() }
    var dice = Dice(state: seed)
    let faults = (0..<12).map { _ in Fault.allCases.randomElement(using: &dice) ?? .cut }
    try await withCallers(relay, seed) { tally in
      for fault in faults {
        await tally.wait(for: 20)
        try await make(fault)
        await tally.wait(for: 20)
        try await mend(fault)
        await relay.heal()
      }
    }
  }

  /// Makes calls through the relay while faults are injected, and then checks the record.
  private func withCallers(
    _ relay: Relay,
    _ seed: UInt64,
    _ faults: (Tally) async throws -> Void
  ) async throws {
    let (tally, ledger, stop) = (Tally(), Ledger(), Stop())
    var options = ChannelOptions.impatient
    options.observer = ledger
    let channel = try Channel(target: "127.0.0.1:\(relay.port)", options: options)
    let callers = (0..<8).map { number in
      Task {
        var dice = Dice(state: seed &* 1000 &+ UInt64(number))
        while !stop.isOver { await Self.call(channel, tally, &dice) }
      }
    }
    let result: Result<Void, any Error>
    do { result = .success(try await faults(tally)) } catch { result = .failure(error) }
    stop.set()
    for caller in callers { await caller.value }
    try result.get()
    #expect(await channel.ping(.patient) == .ok)
    await channel.shutDown(grace: .zero)
    #expect(tally.surprises == [])
    #expect(tally.started == tally.ended)
    #expect(tally.outcomes[.ok] ?? 0 > 0)
    #expect(ledger.books.isEven)
    #expect(ledger.books.connections == 0)
  }

  private static func call(_ channel: Channel, _ tally: Tally, _ dice: inout Dice) async {
    let call = FaultCall(CallKind.allCases.randomElement(using: &dice) ?? .unary, on: channel)
    let fate = Fate.allCases.randomElement(using: &dice) ?? .none
    let patience = Duration.milliseconds(Int.random(in: 0..<20, using: &dice))
    // During a silence, only deadlines end calls.
    var options = CallOptions(timeout: fate == .short ? patience : .milliseconds(300))
    if fate == .waits { options.waitForReady = true }
    let isExpected: (GRPCStatus) -> Bool = { status in
      switch status.code {
      case .ok, .unavailable, .deadlineExceeded: true
      case .cancelled: fate == .cancelled
      default: false
      }
    }
    await tally.count("\(call.kind), \(fate)", isExpected: isExpected) { [options] in
      guard fate == .cancelled else { return await call.outcome(options) }
      let task = Task { await call.outcome(options) }
      try? await Task.sleep(for: patience)
      task.cancel()
      return await task.value
    }
  }
}
