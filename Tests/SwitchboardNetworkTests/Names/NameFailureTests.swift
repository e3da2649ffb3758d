import Glibc
import HTTP2TestSupport
import SwitchboardCall
import TestSupport
import Testing

@testable import SwitchboardNetwork

/// Name servers that do not answer, and lookups that nobody waits for.
@Suite(.mayBlock, .timeLimit(.minutes(5))) struct NameFailureTests {
  @Test func aServerThatIsSilentEndsALookupInTime() async throws {
    let server = try ScriptedNameServer { _ in [] }
    let lookups = try NameLookups(server.authority, timeout: .milliseconds(500))
    let start = ContinuousClock.now
    #expect(
      await lookups.failure(of: "one.test")
        == "one.test was not found: the name service \(server.authority) did not answer in time"
    )
    #expect(ContinuousClock.now - start < .seconds(10))
    // Both families, at most three times each.
    #expect((2...6).contains(server.queries.value))
    await lookups.untilIdle()
  }

  /// However long c-ares would still try.
  @Test func theTimeLimitHoldsForAllNamesTogether() async throws {
    let server = try ScriptedNameServer { _ in [] }
    let lookups = try NameLookups(server.authority, timeout: .seconds(3600))
    let failure = Task { await lookups.failure(of: "one.test") }
    await lookups.loop.until { lookups.loop.openHandles > 0 }
    await lookups.loop.advance(by: .seconds(3601))
    #expect(await failure.value?.hasSuffix("did not answer in time") == true)
    await lookups.untilIdle()
  }

  @Test func oneFamilyIsEnoughIfTheServerIsSilentAboutTheOther() async throws {
    let server = try ScriptedNameServer { $0.type == DNSBytes.a ? [$0.oneAddress] : [] }
    let lookups = try NameLookups(server.authority, timeout: .seconds(5))
    let answer = try await lookups.addresses(of: "one.test").get()
    #expect(answer.addresses.map(\.host) == ["127.0.0.9"] && answer.timeToLive == .seconds(60))
  }

  @Test func aPortWithoutAServerIsReported() async throws {
    let (listener, port) = try LoopbackSocket.listening()
    defer { close(listener) }
    // A datagram to this port is refused. c-ares may miss that for one family, and wait in vain.
    let lookups = try NameLookups("127.0.0.1:\(port)", timeout: .seconds(1))
    let expected = "one.test was not found: the name service 127.0.0.1:\(port) "
    #expect(await lookups.failure(of: "one.test")?.hasPrefix(expected) == true)
  }

  @Test func aCancelledLookupIsSilent() async throws {
    let server = try ScriptedNameServer { _ in [] }
    let lookups = try NameLookups(server.authority)
    lookups.with { client in
      for number in 0..<20 {
        let query = client.addresses(of: "host\(number).test", port: 1) { _ in
          Issue.record("it was cancelled")
        }
        query.cancel()
        query.cancel()
      }
      // Its failure is known already, but not reported yet.
      client.addresses(of: "", port: 1) { _ in Issue.record("it was cancelled") }.cancel()
      client.texts(of: "localhost") { _ in Issue.record("it was cancelled") }.cancel()
    }
    await lookups.untilIdle()
  }

  /// A lookup keeps its server's sockets open only as long as somebody waits for one.
  @Test func aCompletionMayCancelOthersAndStartMore() async throws {
    let server = try ScriptedNameServer { $0.query.contains(UInt8(ascii: "1")) ? [$0.oneAddress] : [] }
    let lookups = try NameLookups(server.authority)
    let isDone = Signal()
    lookups.with { client in
      let others = (2..<5).map { number in
        client.addresses(of: "host\(number).test", port: 1) { _ in Issue.record("it was cancelled") }
      }
      var first: NameQuery?
      first = client.addresses(of: "host1.test", port: 1) { result in
        #expect((try? result.get().addresses.count) == 2)
        for other in others { other.cancel() }
        first?.cancel()
        first = nil
        client.addresses(of: "host11.test", port: 1) { result in
          #expect((try? result.get().addresses.count) == 2)
          isDone.fire()
        }
      }
    }
    await isDone.wait()
    await lookups.untilIdle()
  }

  @Test func completionsAreNeverSynchronous() async throws {
    let server = try ScriptedNameServer { [$0.oneAddress] }
    let lookups = try NameLookups(server.authority)
    let count = Counter()
    lookups.with { client in
      for name in ["localhost", "127.0.0.1", "", "a..b"] {
        client.addresses(of: name, port: 1) { _ in count.add(1) }
        #expect(count.value == 0)
      }
    }
    await lookups.untilIdle()
    #expect(count.value == 4)
  }

  /// A loop does not end before its lookups, and then nothing of them is left.
  @Test func aLoopEndsAfterItsLookups() async throws {
    let server = try ScriptedNameServer { _ in [] }
    weak var ended: Loop?
    let failures = Counter()
    do {
      let group = try LoopGroup()
      let loop = group.loops[0]
      ended = loop
      await loop.onLoop {
        let client = try? NameClient(authority: server.authority, on: loop, timeout: .milliseconds(300))
        for number in 0..<5 {
          client?.addresses(of: "host\(number).test", port: 1) { result in
            if case .failure = result { failures.add(1) }
          }
        }
        // The system's is let go of with the loop.
        loop.names.addresses(of: "localhost", port: 1) { _ in failures.add(1) }
      }
      group.shutDown()
    }
    // Querying the loop itself would wake it.
    while !Task.isCancelled, ended != nil { await Task.yield() }
    #expect(ended == nil)
    #expect(failures.value == 6)
  }

  @Test func aLoopEndsWhenItsLookupsAreCancelled() async throws {
    let server = try ScriptedNameServer { _ in [] }
    weak var ended: Loop?
    do {
      let group = try LoopGroup()
      let loop = group.loops[0]
      ended = loop
      let cancel: @Sendable () -> Void = await loop.onLoop {
        nonisolated(unsafe) var queries: [NameQuery] = []
        if let client = try? NameClient(authority: server.authority, on: loop, timeout: .seconds(3600)) {
          queries = (0..<5).map {
            client.addresses(of: "host\($0).test", port: 1) { _ in Issue.record("cancelled") }
          }
        }
        return { for query in queries { query.cancel() } }
      }
      group.shutDown()
      await loop.onLoop(cancel)
    }
    while !Task.isCancelled, ended != nil { await Task.yield() }
    #expect(ended == nil)
  }
}
