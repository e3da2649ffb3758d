import Foundation
import SwitchboardText
import Testing

@Suite struct Base64Tests {
  private static let all = (0..<20).map { count in (0..<count).map { UInt8($0 * 13 & 255) } }

  private func decode(_ text: String) -> [UInt8]? { Base64.decode(text.utf8) }
  private func decodeEither(_ text: String) -> [UInt8]? { Base64.decodeEither(Array(text.utf8)[...]) }

  @Test(arguments: all) func encodingMatchesFoundation(_ bytes: [UInt8]) {
    let text = Data(bytes).base64EncodedString()
    #expect(Base64.padded(bytes) == Array(text.utf8))
    #expect(Base64.encode(bytes) == Array(text.utf8.filter { $0 != UInt8(ascii: "=") }))
  }

  @Test(arguments: all) func bothFormsAreDecoded(_ bytes: [UInt8]) {
    for text in [Base64.padded(bytes), Base64.encode(bytes)] {
      #expect(Base64.decode(text) == bytes)
      #expect(Base64.decodeEither(text[...]) == bytes)
    }
  }

  /// In metadata the text ends at its padding, however long that is.
  @Test func metadataIsInTheStandardAlphabet() {
    #expect(decode("+/+/") == [0xfb, 0xff, 0xbf])
    for text in ["AA", "AA=", "AA==", "AA==="] { #expect(decode(text) == [0]) }
    for text in ["-_-_", "A", "AAAAA", "A A=", "AA.."] { #expect(decode(text) == nil) }
  }

  @Test func eitherAlphabetHasItsPaddingOrNone() {
    #expect(decodeEither("-_-_") == decodeEither("+/+/"))
    for text in ["AA", "AA=="] { #expect(decodeEither(text) == [0]) }
    for text in ["AA=", "AA===", "A=", "=", "AA=A", "A", "AAAAA", "A A=", "AA.."] {
      #expect(decodeEither(text) == nil)
    }
  }
}
