import SwitchboardText
import Testing

/// Letters of ASCII, which the standard library knows for characters only.
@Suite struct LetterTests {
  @Test func theCaseOfLettersChanges() {
    for byte in UInt8.min...UInt8.max {
      let character = Character(Unicode.Scalar(byte))
      let isLetter = character.isASCII && character.isLetter
      #expect(byte.isLetter == isLetter, "\(byte)")
      #expect(byte.isUpper == (isLetter && character.isUppercase), "\(byte)")
      #expect(byte.isDigit == (character.isASCII && character.isWholeNumber), "\(byte)")
      #expect(byte.lowercased == (isLetter ? character.lowercased().utf8.first : byte), "\(byte)")
      #expect(byte.uppercased == (isLetter ? character.uppercased().utf8.first : byte), "\(byte)")
    }
  }
}
