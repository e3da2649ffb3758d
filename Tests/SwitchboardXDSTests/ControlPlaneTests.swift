import CallTestSupport
import SwitchboardCall
import TestSupport
import Testing

@testable import SwitchboardXDS

/// The client of a control plane, with a clock that the test advances.
@Suite(.mayBlock, .timeLimit(.minutes(5))) struct ControlPlaneTests {
  private let time = ManualTime()

  private func client(_ plane: PlanePeer) -> XDSClient {
    var environment = XDSEnvironment()
    environment.time = time
    environment.options.logger = .quiet
    return XDSClient(plane.bootstrap, environment)
  }

  @Test func aResourceThatDoesNotComeIsMissingAfterAWhile() async throws {
    let plane = try PlanePeer()
    let client = client(plane)
    let (updates, source) = AsyncStream<ResourceUpdate>.makeStream()
    let watch = try client.watch(ResourceKey(.listener, "nobody")) { source.yield($0) }
    while let wait = await time.nextWait(), wait != .seconds(15) {}
    // An answer without it, which says nothing yet. Afterwards, it would say once more that there is none.
    _ = try plane.nextAnswer("listeners", ["nobody"])
    time.advance(by: .seconds(15))
    var iterator = updates.makeAsyncIterator()
    guard case .resource(.failure(let status))? = await iterator.next() else {
      Issue.record("it is there")
      return
    }
    #expect(status.code == .notFound && status.message == "there is no listener nobody")
    // It may still come.
    try plane.set(Mesh("nobody", routes: [], clusters: [:]))
    let update = await iterator.next()
    guard case .resource(.success)? = update else {
      Issue.record("instead of the listener: \(update.map { "\($0)" } ?? "nothing")")
      return
    }
    withExtendedLifetime(watch) {}
  }

  /// Without a response, the waits grow; after one, there is none.
  @Test func aFailedStreamIsOpenedAgainLaterAndLater() async throws {
    let plane = try PlanePeer()
    plane.kill()
    let client = client(plane)
    let watch = try client.watch(ResourceKey(.listener, "l")) { _ in }
    var waits: [Duration] = []
    while waits.count < 4, let wait = await time.nextWait() {
      waits.append(wait)
      time.advance(by: wait)
    }
    for (wait, expected) in zip(waits, [1.0, 1.6, 2.56, 4.096]) {
      #expect(wait >= .seconds(expected * 0.8) && wait <= .seconds(expected * 1.2), "\(waits)")
    }
    withExtendedLifetime(watch) {}
  }

  /// Who watches something after a while in which nothing was need not wait to learn that the next stream has to.
  @Test func aFailureIsNotForgottenBeforeTheNextAttempt() async throws {
    let plane = try PlanePeer()
    plane.kill()
    let client = client(plane)
    for _ in 0..<3 {
      let (updates, source) = AsyncStream<ResourceUpdate>.makeStream()
      // Time stands still.
      let watch = try client.watch(ResourceKey(.listener, "l")) { source.yield($0) }
      var iterator = updates.makeAsyncIterator()
      guard case .resource(.failure(let status))? = await iterator.next() else {
        Issue.record("it is there")
        return
      }
      let address = "127.0.0.1:\(plane.port)"
      #expect(
        status.message?.contains("the control plane \(address) cannot be asked: cannot connect to \(address)")
          == true
      )
      withExtendedLifetime(watch) {}
    }
  }

  /// A stream is there for what is watched.
  @Test func aStreamEndsWithTheLastWatch() async throws {
    let plane = try PlanePeer()
    let client = client(plane)
    for _ in 0..<2 {
      let watch = try client.watch(ResourceKey(.listener, "l")) { _ in }
      try plane.next("asked", "listeners")
      withExtendedLifetime(watch) {}
      // The next one has to wait for a moment.
      time.advance(by: .seconds(1))
    }
    for _ in 0..<2 { try plane.next("left", "") }
  }

  /// A thread may still want something when another one ends all.
  @Test func nobodyIsAskedAfterTheEnd() throws {
    let bootstrap = XDSBootstrap(servers: [XDSBootstrap.Server("127.0.0.1:1", security: .plaintext)])
    let discovery = Discovery(ServerTable(bootstrap), bootstrap.node, XDSEnvironment())
    discovery.end()
    let watch = try discovery.watch(ResourceKey(.listener, "l"), of: 0) { _ in }
    #expect(discovery.reporter(0) == nil)
    withExtendedLifetime(watch) {}
  }

  @Test func aClientIsGoneWithTheLastOneWhoHasIt() async throws {
    let plane = try PlanePeer()
    let pool = XDSClientPool()
    var first: XDSClient? = pool.client(plane.bootstrap, for: "xds:///a", XDSEnvironment())
    let second = pool.client(plane.bootstrap, for: "xds:///a", XDSEnvironment())
    #expect(first === second)
    #expect(pool.client(plane.bootstrap, for: "xds:///b", XDSEnvironment()) !== second)
    weak let gone = pool.client(plane.bootstrap, for: "xds:///c", XDSEnvironment())
    #expect(gone == nil)
    first = nil
    #expect(pool.client(plane.bootstrap, for: "xds:///a", XDSEnvironment()) === second)
  }
}
