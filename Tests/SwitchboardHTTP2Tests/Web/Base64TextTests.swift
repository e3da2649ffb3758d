import Foundation
import Testing

@testable import SwitchboardHTTP2

@Suite struct Base64TextTests {
  @Test func encodingMatchesFoundation() {
    for count in 0..<20 {
      let bytes = (0..<count).map { UInt8($0 * 13 & 255) }
      var text: [UInt8] = []
      Base64Text.append(bytes, to: &text)
      #expect(text == Array(Data(bytes).base64EncodedString().utf8))
    }
  }

  @Test func piecesOfAnyLengthAreJoined() {
    let pieces = (0..<7).map { count in (0..<count).map { UInt8($0 * 31 + count) } }
    var text: [UInt8] = []
    for piece in pieces { Base64Text.append(piece, to: &text) }
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
