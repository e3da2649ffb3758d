import HTTP2TestSupport
import TestSupport
import Testing

/// A server whose address space is limited, as containers and `ulimit -v` do. An allocation that fails ends the process, so
/// what peers announce must not be allocated.
@Suite(.mayBlock, .timeLimit(.minutes(5))) struct AddressSpaceTests {
  private typealias Kind = FramePeer.Kind

  /// They announce 1.6 GB, and the server has 256 MB.
  @Test func announcedMessagesTakeNoAddressSpace() throws {
    let subject = try HeapSubject("serve", "confined")
    let port = try subject.port()
    // The limit holds from the first answer on.
    _ = try subject.held()
    let peers = try (0..<4).map { _ in try FramePeer(port: port) }
    for peer in peers {
      for index in 0..<100 {
        let stream = UInt32(2 * index + 1)
        peer.headers(stream, FramePeer.request("/h/Pause"))
        peer.data(stream, [0] + FramePeer.number(4 << 20))
      }
      try #require(peer.settle())
    }
    let other = try FramePeer(port: port)
    try #require(other.settle())
    other.headers(1, FramePeer.request("/h/Flood"))
    other.data(1, [0, 0, 0, 0, 1, 3], ends: true)
    #expect(other.next(Kind.data)?.payload.prefix(8) == [0, 0, 0, 0, 3, 0, 0, 0])
    withExtendedLifetime(peers) {}
  }
}
