import Glibc
import HTTP2TestSupport
import SwitchboardCall
import Testing

@testable import SwitchboardNetwork

/// The sockets of a loop share its time.
@Suite(.timeLimit(.minutes(5))) struct SocketTests {
  /// Two connected sockets; the loop has the first.
  private static func pair() throws -> (Int32, Int32) {
    var ends: [Int32] = [0, 0]
    try #require(
      socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0, &ends) == 0
    )
    return (ends[0], ends[1])
  }

  /// Records which socket reads what, in order, and adds work to the loop each time.
  private final class Reader: SocketDelegate {
    let name: String
    let record: Record
    /// The cost of processing a read.
    let cost: Duration
    var socket: Socket?

    init(_ name: String, _ record: Record, cost: Duration = .zero) {
      self.name = name
      self.record = record
      self.cost = cost
    }

    func socketDidRead(_ bytes: UnsafeRawBufferPointer) {
      let record = record
      record.entries.withLock { $0.append(.read(name, bytes.count)) }
      socket?.loop.execute { record.entries.withLock { $0.append(.work) } }
      socket?.loop.advanceClock(by: cost)
    }

    func socketDidEnd(_ error: SocketError?) {
      let record = record
      record.entries.withLock { $0.append(.end) }
      socket?.close()
      socket = nil
    }

    func socketDidDrain() {}
  }

  private final class Record: Sendable {
    enum Entry: Equatable {
      case read(String, Int)
      case work, end
    }

    let entries = Locked<[Entry]>([])

    var reads: [(name: String, count: Int)] {
      entries.withLock { $0 }.compactMap {
        if case .read(let name, let count) = $0 { (name, count) } else { nil }
      }
    }
  }

  /// One socket reads a lot while another has a byte waiting.
  private func record(cost: Duration) async throws -> Record {
    let group = try LoopGroup()
    let loop = group.loops[0]
    let (flooded, flooder) = try Self.pair()
    let (other, caller) = try Self.pair()
    let flood = [UInt8](repeating: 7, count: 120_000)
    try #require(write(flooder, flood, flood.count) == flood.count)
    try #require(write(caller, [1], 1) == 1)
    close(flooder)
    close(caller)
    let record = Record()
    loop.execute {
      for (name, descriptor) in [("flood", flooded), ("other", other)] {
        let reader = Reader(name, record, cost: cost)
        reader.socket = Socket.adopt(descriptor, .unix(path: ""), on: loop)
        reader.socket?.delegate = reader
        reader.socket?.startReading()
      }
    }
    await loop.until { loop.openHandles == 0 && record.entries.withLock { $0.contains(.end) } }
    return record
  }

  @Test func aBusySocketDoesNotStarveOthers() async throws {
    let record = try await record(cost: .zero)
    #expect(record.reads.filter { $0.name == "flood" }.map(\.count).reduce(0, +) == 120_000)
    // The other socket's byte comes before the second share, and work runs between any two reads.
    #expect(record.reads.prefix(2).contains { $0.name == "other" })
    let entries = record.entries.withLock { $0 }
    for (entry, next) in zip(entries, entries.dropFirst()) {
      guard case .read("flood", _) = entry, case .read("flood", _) = next else { continue }
      Issue.record("two shares in one turn")
    }
    #expect(record.reads.allSatisfy { $0.count <= 65536 })
  }

  /// As with messages that decompress to a thousand times their size.
  @Test func anExpensiveConnectionReadsLess() async throws {
    let record = try await record(cost: .milliseconds(100))
    let counts = record.reads.filter { $0.name == "flood" }.map(\.count)
    #expect(counts.reduce(0, +) == 120_000)
    #expect(counts.first == ReadShare.first)
    #expect(counts.dropFirst().allSatisfy { $0 <= 2 * ReadShare.least })
  }

  @Test func aShareGrowsWhileItIsCheap() {
    var share = ReadShare()
    var sizes: [Int] = []
    for turn in 1...6 {
      var size = 0
      while case let count = share.next(in: UInt64(turn), of: 64 * 1024), count > 0 {
        share.spend(count, taking: 1000)
        size += count
      }
      sizes.append(size)
    }
    #expect(sizes == [4, 8, 16, 32, 64, 128].map { $0 * 1024 })
    // Longer than it should take.
    _ = share.next(in: 7, of: 64 * 1024)
    share.spend(64 * 1024, taking: ReadShare.longestTime + 1)
    #expect(share.next(in: 7, of: 64 * 1024) == 0)
    #expect(share.next(in: 8, of: 64 * 1024) == 32 * 1024)
  }
}
