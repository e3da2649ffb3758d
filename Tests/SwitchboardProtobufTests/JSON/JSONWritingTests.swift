import SwitchboardProtobuf
import TestMessages
import Testing

/// What is written for values of all sizes.
@Suite struct JSONWritingTests {
  private typealias Kinds = Switchboard_Testing_AllKinds3

  /// Every unit, at every position of texts that are as long as a few words.
  @Test(arguments: 0..<40)
  func escapesAnywhere(_ count: Int) throws {
    for index in 0..<count {
      for unit in Array(0..<0x30) + [0x5C, 0x7F, 0xE9, 0x1F600] {
        var scalars = [Unicode.Scalar](repeating: "a", count: count)
        scalars[index] = try #require(Unicode.Scalar(UInt32(unit)))
        var text = ""
        text.unicodeScalars.append(contentsOf: scalars)
        let expected = scalars.map(JSONWritingTests.escaped).joined()
        let message = Kinds.with { $0.oneString = text }
        #expect(try message.jsonString() == "{\"oneString\":\"\(expected)\"}")
      }
    }
  }

  private static func escaped(_ scalar: Unicode.Scalar) -> String {
    switch scalar {
    case "\u{8}": return "\\b"
    case "\t": return "\\t"
    case "\n": return "\\n"
    case "\u{C}": return "\\f"
    case "\r": return "\\r"
    case "\"", "\\": return "\\" + String(scalar)
    case let other where other.value < 0x20:
      let digits = String(other.value, radix: 16)
      return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
    default: return String(scalar)
    }
  }

  @Test func writesIntegersOfAllSizes() throws {
    var numbers: [UInt64] = [0, 1, .max, .max - 1]
    var power: UInt64 = 1
    while power <= .max / 10 {
      power *= 10
      numbers += [power - 1, power, power + 1]
    }
    let message = Kinds.with {
      $0.manyUint64 = numbers
      $0.manyInt64 = numbers.map { -Int64(truncatingIfNeeded: $0 >> 1) } + [.min, .max]
    }
    let unsigned = message.manyUint64.map { "\"\($0)\"" }.joined(separator: ",")
    let signed = message.manyInt64.map { "\"\($0)\"" }.joined(separator: ",")
    #expect(try message.jsonString() == "{\"manyInt64\":[\(signed)],\"manyUint64\":[\(unsigned)]}")
  }

  @Test func writesWholeNumbersWithoutFraction() throws {
    let numbers: [Double] = [
      0, -0.0, 1, -1, 100, 9_007_199_254_740_991, 9_007_199_254_740_992, 1e16, 1e300, 0.5,
    ]
    let message = Kinds.with { $0.manyDouble = numbers }
    let expected = "0,-0,1,-1,100,9007199254740991,9007199254740992,1e+16,1e+300,0.5"
    #expect(try message.jsonString() == "{\"manyDouble\":[\(expected)]}")
  }

  @Test(arguments: [0, 1, 2, 3, 4, 5, 6, 100, 5000])
  func writesBytesOfAllSizes(_ count: Int) throws {
    let message = Kinds.with {
      $0.manyBytes = [(0..<count).map { UInt8(truncatingIfNeeded: $0 * 7) }, [0xFB, 0xFF]]
    }
    let text = try message.jsonString()
    #expect(text.hasSuffix("\",\"+/8=\"]}"))
    #expect(try Kinds(jsonString: text) == message)
  }

  /// The text grows from field to field and within one.
  @Test(arguments: [900, 1000, 1010, 100_000])
  func writesTextOfAllSizes(_ count: Int) throws {
    let message = Kinds.with {
      $0.manyString = Array(repeating: String(repeating: "x\n", count: count), count: 3)
      $0.mapStringString = [String(repeating: "k", count: count): "v"]
      $0.manyBool = Array(repeating: true, count: count)
    }
    let text = try message.jsonString()
    #expect(try Array(text.utf8) == message.jsonUTF8Bytes())
    #expect(try Kinds(jsonString: text) == message)
  }
}
