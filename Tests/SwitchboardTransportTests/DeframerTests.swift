import HTTP2TestSupport
import SwitchboardCall
import Testing

@testable import SwitchboardNetwork
@testable import SwitchboardTransport

@Suite struct DeframerTests {
  private func messages(_ bytes: [UInt8], in pieces: Int, limit: Int = 100) throws -> [[UInt8]] {
    var deframer = Deframer(limit: .request(limit))
    var found: [[UInt8]] = []
    var rest = bytes[...]
    while !rest.isEmpty {
      let piece = Array(rest.prefix(pieces))
      rest = rest.dropFirst(pieces)
      try piece.withUnsafeBytes { bytes in
        var left = bytes
        while let message = try deframer.next(&left) {
          found.append(message.withBytes { $0.withUnsafeBytes(Array.init) })
        }
        #expect(left.isEmpty)
      }
    }
    #expect(!deframer.isInsideMessage)
    return found
  }

  @Test(arguments: 1...12) func messagesDoNotDependOnTheSizeOfPieces(_ size: Int) throws {
    let bytes: [UInt8] = [0, 0, 0, 0, 2, 7, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 9]
    #expect(try messages(bytes, in: size) == [[7, 8], [], [9]])
  }

  @Test func deframingStopsAfterAMessage() throws {
    var deframer = Deframer(limit: .request(100))
    let bytes: [UInt8] = [0, 0, 0, 0, 1, 7, 0, 0, 0, 0, 0, 0, 0]
    let left = try bytes.withUnsafeBytes { bytes in
      var left = bytes
      let message = try deframer.next(&left)
      #expect(message != nil)
      return left.count
    }
    #expect(left == 7)
    #expect(!deframer.isInsideMessage)
  }

  /// Their memory grows several times.
  @Test(arguments: [1000, 16_384, 60_000]) func largeMessagesArriveWhole(_ size: Int) throws {
    let sizes = [0, 1, 16_383, 16_384, 16_385, 131_072, 200_000, 2_000_000]
    let sent: [[UInt8]] = sizes.map { size in (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) } }
    let bytes = sent.flatMap { message -> [UInt8] in
      [0] + FramePeer.number(UInt32(message.count)) + message
    }
    #expect(try messages(bytes, in: size, limit: 2_000_000) == sent)
  }

  @Test func aMessageAboveTheLimitIsRefusedByItsPrefix() {
    #expect(throws: MessageLimit.request(100).exceeded(by: 101)) {
      try messages([0, 0, 0, 0, 101], in: 5)
    }
  }

  @Test func unknownFlagsAreRefused() {
    #expect(throws: GRPCStatus.badPrefix(2)) { try messages([2, 0, 0, 0, 0], in: 5) }
  }

  @Test func onlyAWholePlainMessageIsReadInPlace() {
    func count(_ bytes: [UInt8]) -> Int? {
      bytes.withUnsafeBytes { Deframer.wholeMessage(in: $0, limit: .request(100))?.count }
    }
    #expect(count([0, 0, 0, 0, 2, 7, 8]) == 2)
    #expect(count([0, 0, 0, 0, 0]) == 0)
    #expect(count([1, 0, 0, 0, 2, 7, 8]) == nil)
    #expect(count([0, 0, 0, 0, 2, 7]) == nil)
    #expect(count([0, 0, 0, 0, 1, 7, 8]) == nil)
    #expect(count([0, 0]) == nil)
  }
}
