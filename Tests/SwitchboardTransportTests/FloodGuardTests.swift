import HTTP2TestSupport
import Testing

@testable import SwitchboardNetwork
@testable import SwitchboardTransport

/// What costs a peer nothing, and what does, with a clock that the tests move.
@Suite struct FloodGuardTests {
  private typealias Kind = FramePeer.Kind

  private static let millisecond: UInt64 = 1_000_000

  /// A server's session, and the time of what it receives.
  private final class Receiver {
    let session: Session
    private let peer = StubPeer()
    var now: UInt64 = 1_000_000_000
    private var next: UInt32 = 1

    init() throws {
      var settings = SessionSettings(isServer: true)
      settings.maxConcurrentStreams = 1000
      session = try #require(Session(.server, settings: settings, memory: BlockPool()))
      session.delegate = peer
      _ = receive(Reception.greeting)
    }

    deinit { session.connectionDidClose() }

    func receive(_ bytes: [UInt8]) -> Offense? {
      let offense = bytes.withUnsafeBytes { session.receive($0, now: now) }
      var drained = Drained.some
      while drained == .some { drained = session.drain(into: OutputBuffer(), limit: 1 << 20) }
      if offense == nil, case .offense(let found) = drained { return found }
      return offense
    }

    /// The bytes that open so many streams, and their numbers.
    func open(_ count: Int) -> (bytes: [UInt8], streams: [UInt32]) {
      let streams = (0..<UInt32(count)).map { next + 2 * $0 }
      next += 2 * UInt32(count)
      let block = FramePeer.block(FramePeer.call("Hang"))
      return (streams.flatMap { FramePeer.frame(Kind.headers, 4, $0, block) }, streams)
    }

    static func reset(_ streams: [UInt32]) -> [UInt8] {
      streams.flatMap { FramePeer.frame(Kind.resetStream, 0, $0, [0, 0, 0, 8]) }
    }
  }

  /// A client that gives up 900 calls a second, each after a tenth of one, because the server is overloaded.
  @Test(arguments: [1, 9, 90]) func callsThatAreGivenUpLateAreFree(_ batch: Int) throws {
    let receiver = try Receiver()
    var open: [(since: UInt64, streams: [UInt32])] = []
    for _ in 0..<(9000 / batch) {
      let (bytes, streams) = receiver.open(batch)
      #expect(receiver.receive(bytes) == nil)
      open.append((receiver.now, streams))
      receiver.now += UInt64(batch) * 1000 * Self.millisecond / 900
      while let first = open.first, receiver.now - first.since >= 100 * Self.millisecond {
        #expect(receiver.receive(Receiver.reset(first.streams)) == nil)
        open.removeFirst()
      }
    }
  }

  @Test(arguments: [false, true]) func callsThatAreGivenUpAtOnceAreNot(inOnePiece: Bool) throws {
    let receiver = try Receiver()
    var count = 0
    while count < 3000 {
      let (bytes, streams) = receiver.open(1)
      let offense =
        inOnePiece
        ? receiver.receive(bytes + Receiver.reset(streams))
        : receiver.receive(bytes) ?? receiver.receive(Receiver.reset(streams))
      if let offense {
        #expect(offense.abuse == .rapidReset)
        break
      }
      receiver.now += Self.millisecond
      count += 1
    }
    // A thousand, and a quarter of that each second.
    #expect((1000..<1500).contains(count))
  }

  /// A stream has one free reset at most, also if all of them arrive at once.
  @Test(arguments: [false, true]) func aStreamThatIsGoneHasNoFreeReset(inOnePiece: Bool) throws {
    let receiver = try Receiver()
    let (bytes, streams) = receiver.open(100)
    #expect(receiver.receive(bytes) == nil)
    receiver.now += 1000 * Self.millisecond
    var rounds = 0
    var offense: Offense?
    while rounds < 100, offense == nil {
      rounds += 1
      let resets = Receiver.reset(streams)
      offense = receiver.receive(inOnePiece ? Array((0..<20).flatMap { _ in resets }) : resets)
    }
    // One is free. The others cost a thousand, and a quarter of that for the second.
    #expect(inOnePiece ? rounds == 1 : (11..<15).contains(rounds))
    #expect(offense?.abuse == .rapidReset)
  }

  private func scan(_ watch: inout FloodGuard, _ bytes: [UInt8], now: UInt64 = 1) -> Offense? {
    bytes.withUnsafeBytes { bytes in
      var offset = 0
      while let finding = watch.scan(bytes, from: &offset, now: now) {
        if case .offense(let offense, _) = finding { return offense }
      }
      return nil
    }
  }

  /// A client that takes a large response in pieces of a hundred bytes, and says so for the stream and the connection.
  @Test func windowUpdatesForWhatWasSentAreFree() {
    var watch = FloodGuard(of: .client, allowance: 100)
    let update = FramePeer.frame(Kind.windowUpdate, 0, 1, [0, 0, 0, 100])
    var count = 0
    for _ in 0..<100 {
      watch.earn(forSending: 16_384)
      for _ in 0..<163 where scan(&watch, update + update) == nil { count += 1 }
    }
    #expect(count == 16_300)
    // Beyond that they cost, and what was sent does not count twice.
    count = 0
    while count < 100_000, scan(&watch, update) == nil { count += 1 }
    #expect(count < 100_000)
  }

  @Test func windowUpdatesForNothingAreNot() {
    var watch = FloodGuard(of: .client, allowance: 100)
    let update = FramePeer.frame(Kind.windowUpdate, 0, 0, [0, 0, 0, 1])
    for _ in 0..<100 { #expect(scan(&watch, update) == nil) }
    #expect(scan(&watch, update)?.abuse == .windowUpdateFlood)
  }

  /// Wherever the frame is split.
  @Test(arguments: 1..<13) func dataOfPaddingAreEmpty(_ split: Int) {
    for (payload, isEmpty) in [([3, 0, 0, 0], true), ([2, 9, 0, 0], false), ([0, 1, 1, 1], false)]
      as [([UInt8], Bool)]
    {
      var watch = FloodGuard(of: .client, allowance: 10)
      let frame = FramePeer.frame(Kind.data, 8, 1, payload)
      var offense: Offense?
      for _ in 0..<11 where offense == nil {
        offense = scan(&watch, Array(frame[..<split])) ?? scan(&watch, Array(frame[split...]))
      }
      #expect((offense?.abuse == .emptyDataFlood) == isEmpty)
    }
  }
}
