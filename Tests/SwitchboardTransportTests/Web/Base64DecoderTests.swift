import SwitchboardText
import Testing

@testable import SwitchboardNetwork
@testable import SwitchboardTransport

@Suite struct Base64DecoderTests {
  @Test func piecesOfAnyLengthAreJoined() {
    let pieces = (0..<7).map { count in (0..<count).map { UInt8($0 * 31 + count) } }
    let text = pieces.flatMap { Base64.padded($0) }
    for step in 1...text.count {
      var decoder = Base64Decoder()
      var decoded: [UInt8] = []
      for start in stride(from: 0, to: text.count, by: step) {
        decoded += text[start..<min(start + step, text.count)].withUnsafeBytes { decoder.decode($0) } ?? [0]
      }
      #expect(decoded == pieces.flatMap { $0 })
      #expect(!decoder.isInsideGroup)
    }
  }

  @Test(arguments: ["=", "A=", "A-==", "AA=A", "AA==="]) func invalidTextIsRejected(_ text: String) {
    var decoder = Base64Decoder()
    #expect(Array(text.utf8).withUnsafeBytes { decoder.decode($0) } == nil)
  }

  @Test(arguments: ["A", "AAAAA", "AA="]) func incompleteTextLeavesAGroupOpen(_ text: String) {
    var decoder = Base64Decoder()
    #expect(Array(text.utf8).withUnsafeBytes { decoder.decode($0) } != nil)
    #expect(decoder.isInsideGroup)
  }
}
