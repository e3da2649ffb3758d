import CallTestSupport
import Dispatch
import HTTP2TestSupport
import SwitchboardCall
import TestSupport
import Testing

@testable import SwitchboardNetwork
@testable import SwitchboardTransport

/// Handlers that run on after their calls have ended, whatever has become of their connections.
@Suite(.mayBlock, .timeLimit(.minutes(5))) struct AbandonedHandlerTests {
  private typealias Kind = FramePeer.Kind

  @Test func clientsCannotPileUpHandlersOnEverNewConnections() async throws {
    let log = LogEntries()
    var options = ServerOptions()
    options.maxAbandonedHandlers = 40
    options.logger = Logger(log)
    let abuses = AbuseRecorder()
    options.observer = abuses
    try await TestPair.with(server: options) { pair async throws in
      for _ in 0..<10 {
        do {
          let peer = try FramePeer(pair.address)
          for number in 0..<10 {
            peer.headers(Batch.stream(number), FramePeer.call("Stubborn"))
            peer.data(Batch.stream(number), [0, 0, 0, 0, 0], ends: true)
          }
          try #require(peer.settle())
        }
        while !Task.isCancelled, !pair.server.core.connections.isEmpty { await Task.yield() }
      }
      // One address may have half of them.
      #expect(pair.service.stubborn.value == 20)
      let peer = try FramePeer(pair.address)
      peer.headers(1, FramePeer.call("Get"))
      #expect(peer.next(Kind.resetStream)?.payload == [0, 0, 0, 7])
      #expect(abuses.counts[.tooManyHandlers] == 81)
      let refused = "calls are refused, because too many handlers do not return after their calls have ended"
      let entries = log.all.filter { $0.message == refused }
      #expect(entries.map { $0.metadata["methods"] } == ["/test.Test/Stubborn (20)"])
      pair.service.released.fire()
      let clients = pair.server.core.abandoned.join(at: pair.address)
      while !Task.isCancelled, clients.haveTooMany { await Task.yield() }
      #expect(try await pair.get() == [1, 2, 3])
    }
  }

  @Test func oneAddressLeavesRoomForOthers() {
    let handlers = AbandonedHandlers(limit: 10)
    func clients(_ host: String, _ port: Int) -> AbandonedHandlers.Clients {
      handlers.join(at: SocketAddress.numeric(host, port: port))
    }
    let bad = clients("10.0.0.1", 1)
    bad.add(5)
    #expect(bad.haveTooMany)
    #expect(clients("10.0.0.1", 2) === bad)
    let good = clients("10.0.0.2", 1)
    #expect(!good.haveTooMany)
    // Together they have all.
    good.add(4)
    #expect(!good.haveTooMany)
    clients("2001:db8::1", 1).add(1)
    #expect(good.haveTooMany)
    #expect(clients("10.0.0.3", 1).haveTooMany)
    bad.remove(2)
    #expect(!bad.haveTooMany && !good.haveTooMany)
  }

  @Test func aNetworkOfAddressesCountsAsOne() throws {
    let handlers = AbandonedHandlers(limit: 10)
    let one = handlers.join(at: SocketAddress.numeric("2001:db8::1", port: 1))
    #expect(handlers.join(at: SocketAddress.numeric("2001:db8::ffff:2", port: 1)) === one)
    #expect(handlers.join(at: SocketAddress.numeric("2001:db8:0:1::1", port: 1)) !== one)
  }

  /// A socket that listens on `::` shows each IPv4 address as one of IPv6, and all of them are in one network.
  @Test func mappedAddressesAreDifferentOnes() throws {
    let handlers = AbandonedHandlers(limit: 10)
    let one = handlers.join(at: SocketAddress.numeric("::ffff:10.0.0.1", port: 1))
    #expect(handlers.join(at: SocketAddress.numeric("10.0.0.1", port: 1)) === one)
    #expect(handlers.join(at: SocketAddress.numeric("::ffff:10.0.0.2", port: 1)) !== one)
    #expect(handlers.join(at: SocketAddress.numeric("::1", port: 1)) !== one)
  }

  /// An interceptor on an executor of its own is still at work when the client is gone, and then lets the call pass.
  @Test func handlersThatStartLateCountToo() async throws {
    let queue = DispatchQueue(label: "late")
    let executor = InterceptorExecutor(queue: queue)
    var options = ServerOptions()
    options.maxAbandonedHandlers = 6
    let interceptors: Batch.Interceptors = { [Late(executor)] }
    let stubborn: Batch.Handler = { batch, number, _ in
      await batch.released.wait()
      return [number]
    }
    let group = try LoopGroup()
    queue.suspend()
    try await Batch.with(5, options, on: group, interceptors: interceptors, handling: stubborn) {
      peer,
      batch,
      server in
      try #require(peer.settle())
      for number in 0..<5 { peer.send(Kind.resetStream, 0, Batch.stream(number), [0, 0, 0, 8]) }
      try #require(peer.settle())
      let core = server.core
      await group.loops[0].until { core.connections.allSatisfy { $0.openStreams == 0 } }
      let clients = core.abandoned.join(at: SocketAddress.numeric("127.0.0.1", port: 0))
      queue.resume()
      await batch.until { $0.count == 5 }
      #expect(clients.haveTooMany)
      batch.released.fire()
      while !Task.isCancelled, clients.haveTooMany { await Task.yield() }
      // None is counted twice, or returns without having been counted.
      clients.add(3)
      #expect(clients.haveTooMany)
    }
  }
}

/// Passes everything on, on an executor.
private final class Late: ServerInterceptor<[UInt8], [UInt8]> {
  private let executor: InterceptorExecutor
  override var requestExecutor: InterceptorExecutor? { executor }

  init(_ executor: InterceptorExecutor) { self.executor = executor }
}
