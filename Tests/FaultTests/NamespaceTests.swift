import FaultSupport
import HTTP2TestSupport
import Switchboard
import SwitchboardNetwork
import SwitchboardTransport
import TestSupport
import Testing

/// A real network that is cut and restored, with a server process at the other end.
@Suite(
  .mayBlock,
  .timeLimit(.minutes(5)),
  .enabled("network namespaces cannot be made here: they need root and iproute2") {
    await NetworkNamespace.isPossible.value
  }
) struct NamespaceTests {
  @Test func aCutLinkEndsCallsAndItsReturnServesWaitingCalls() async throws {
    let network = try await NetworkNamespace()
    let result: Result<Void, any Error>
    do { result = .success(try await cutAndHeal(network)) } catch { result = .failure(error) }
    await network.remove()
    try result.get()
  }

  private func cutAndHeal(_ network: NetworkNamespace) async throws {
    let server = try network.startServer()
    let (group, ledger) = (try LoopGroup(), Ledger())
    let loop = group.loops[0]
    var options = ChannelOptions.impatient
    options.security = .plaintext
    options.keepaliveInterval = .seconds(10)
    options.keepaliveTimeout = .seconds(5)
    options.observer = ledger
    let target = "\(network.address):\(server.port)"
    let channel = try Channel(target: target, options: options, group: group)
    for kind in CallKind.allCases { #expect(await FaultCall(kind, on: channel).outcome() == .ok) }

    try await network.cut()
    let calls = CallKind.allCases.map { kind in Task { await FaultCall(kind, on: channel).outcome() } }
    while !Task.isCancelled, await channel.openStreams != calls.count { await Task.yield() }
    // The system retries for a quarter of an hour; the channel does not.
    while !Task.isCancelled, ledger.books.connections > 0 { await loop.advance(by: .seconds(6)) }
    for call in calls {
      let status = await call.value
      #expect(status.code == .unavailable)
      // A call that had not been sent yet was retried once, and found no server.
      let reasons = [
        "the peer has not answered a keepalive ping", "cannot connect to \(target): host is unreachable",
      ]
      #expect(reasons.contains(status.message ?? ""))
    }

    let patient = CallKind.allCases.map { kind in
      Task { await FaultCall(kind, on: channel).outcome(.patient) }
    }
    // If the retry has failed already, the channel says so until it is connected.
    await channel.until { $0.state == .connecting || $0.state == .transientFailure }
    // A connection attempt made during the outage times out, and the next succeeds.
    await loop.advance(by: .seconds(21))
    try await network.heal()
    for call in patient { #expect(await call.value == .ok) }
    await channel.shutDown(grace: .zero)
    #expect(ledger.books.isEven)
    #expect(ledger.books.ended == [.ok: 8, .unavailable: 4])
    server.kill()
  }
}
