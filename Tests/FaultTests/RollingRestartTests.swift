import FaultSupport
import Foundation
import Switchboard
import TestSupport
import Testing

/// Servers are restarted gracefully one after the other while calls of all kinds are made: none fails.
@Suite(.mayBlock, .timeLimit(.minutes(5))) struct RollingRestartTests {
  /// A user's configuration.
  enum Setup: CaseIterable, Sendable {
    /// A channel whose target names several servers needs no options.
    case severalServers
    /// With one server there is an interval without any: calls must have `waitForReady`.
    case oneServer

    var servers: Int { self == .severalServers ? 3 : 1 }
    var rounds: Int { self == .severalServers ? 2 : 4 }
    var options: CallOptions { self == .severalServers ? CallOptions() : .patient }
  }

  @Test(arguments: Setup.allCases) func aRollingRestartLosesNoCall(_ setup: Setup) async throws {
    var servers: [InteropProcess] = []
    for _ in 0..<setup.servers { servers.append(try InteropProcess.startForRestart()) }
    let (tally, ledger, stop) = (Tally(), Ledger(), Stop())
    var options = ChannelOptions.impatient
    options.observer = ledger
    let addresses = servers.map { "127.0.0.1:\($0.port)" }
    let channel = try Channel(target: "ipv4:" + addresses.joined(separator: ","), options: options)
    let callers = (0..<8).map { number in
      Task {
        var kind = number
        while !stop.isOver {
          kind += 1
          let call = FaultCall(CallKind.allCases[kind % 4], on: channel)
          await tally.count("\(call.kind)", isExpected: \.isOk) { await call.outcome(setup.options) }
        }
      }
    }
    for _ in 0..<setup.rounds {
      for (index, server) in servers.enumerated() {
        await tally.wait(for: 30)
        server.program.send(SIGTERM)
        #expect(server.program.exitCode() == 0)
        servers[index] = try InteropProcess.start(port: server.port)
      }
    }
    await tally.wait(for: 30)
    stop.set()
    for caller in callers { await caller.value }
    #expect(tally.surprises == [])
    #expect(tally.outcomes == [.ok: tally.started])
    await channel.shutDown(grace: .zero)
    #expect(ledger.books.isEven)
    for server in servers { server.kill() }
  }
}
