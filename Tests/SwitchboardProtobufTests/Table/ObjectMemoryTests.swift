import TestMessages
import Testing

@testable import SwitchboardProtobuf

/// Strings, arrays and messages that decoding makes and frees itself: nobody can tell them from those of the standard
/// library.
@Suite struct ObjectMemoryTests {
  private typealias Kinds = Switchboard_Testing_AllKinds3

  private func decoded(_ make: (inout Kinds) -> Void) throws -> Kinds {
    try Kinds(serializedBytes: try Kinds.with(make).serializedBytes())
  }

  /// A text whose bytes differ, of a kind that is not in the program.
  private func text(_ count: Int, _ seed: Int = 0) -> String {
    String(decoding: (0..<count).map { UInt8(0x21 + ($0 &* 7 &+ seed) % 0x5E) }, as: UTF8.self)
  }

  /// The address of what a long string or an array refers to.
  private func object<Value>(of value: Value) -> UInt {
    withUnsafeBytes(of: value) { $0.load(fromByteOffset: $0.count - 8, as: UInt.self) }
  }

  @Test func objectClassesHaveTheKnownLayout() {
    let classes = ObjectClasses.known
    let all = [classes.message, classes.string, classes.strings, classes.messages, classes.bytes]
    let known = all.count { $0.isKnown }
    #if (canImport(Glibc) || canImport(Musl)) && _endian(little) && _pointerBitWidth(_64)
      #expect(known == all.count)
    #else
      #expect(known == 0)
    #endif
  }

  @Test(arguments: 0...130)
  func readsStringsOfEveryLength(count: Int) throws {
    let expected = text(count)
    let order = try decoded {
      $0.oneString = expected
      $0.manyString = [expected, expected, "\(expected)!"]
      $0.choiceString = expected
      $0.mapStringString = [expected: expected]
    }
    let strings = [order.oneString, order.choiceString] + order.manyString.prefix(2)
    for var string in strings + order.mapStringString.keys + order.mapStringString.values {
      #expect(string == expected && string.hashValue == expected.hashValue)
      #expect(Array(string.utf8) == Array(expected.utf8) && string.utf16.count == count)
      string += "and more than a few bytes"
      #expect(string == expected + "and more than a few bytes")
      #expect(string.unicodeScalars.reversed().count == count + 25)
    }
    #expect(order.manyString[2] == expected + "!")
  }

  @Test(arguments: 1...70)
  func readsTextThatIsNotASCII(count: Int) throws {
    for position in Set([0, count / 2, count - 1]) {
      let expected = text(position) + "\u{E9}" + text(count - 1 - position)
      let order = try decoded {
        $0.oneString = expected
        $0.manyString = [expected, expected]
      }
      #expect(order.oneString == expected && order.manyString == [expected, expected])
    }
    var bytes: [UInt8] = [14 << 3 | 2, UInt8(count)] + [UInt8](repeating: 0x41, count: count)
    bytes[2 + count / 2] = 0xFF
    #expect(throws: DecodeError.self) { try Kinds(serializedBytes: bytes) }
  }

  @Test func stringsOutliveTheirMessage() throws {
    let counts = [5, 15, 16, 31, 40, 63, 64, 100]
    var kept: [String] = []
    for round in 0..<20 {
      let order = try decoded {
        $0.oneString = text(40, round)
        $0.manyString = counts.map { text($0, round) } + counts.map { text($0, round) }
        $0.recursive.manyString = [text(63, round)]
        $0.choiceNested.outer.oneString = text(20, round)
      }
      if round % 2 == 0 {
        kept += order.manyString + order.recursive.manyString
        kept += [order.oneString, order.choiceNested.outer.oneString]
      }
    }
    let expected = stride(from: 0, to: 20, by: 2).flatMap { round in
      (counts + counts + [63, 40, 20]).map { text($0, round) }
    }
    #expect(kept == expected)
  }

  @Test func repeatedElementsShareTheirMemory() throws {
    let other = text(30, 1)
    var order = try decoded {
      $0.manyString = [text(30), other, text(30)]
      $0.recursive.manyString = [text(30)]
    }
    if ObjectClasses.known.string.isKnown {
      #expect(object(of: order.manyString[0]) == object(of: order.manyString[2]))
      #expect(object(of: order.manyString[0]) == object(of: order.recursive.manyString[0]))
    }
    #expect(object(of: order.manyString[0]) != object(of: order.manyString[1]))
    // A change of one is none of the others.
    order.manyString[0] += "!"
    order.recursive = Kinds()
    #expect(order.manyString == [text(30) + "!", other, text(30)])
  }

  @Test func manyDifferentStringsAreKeptApart() throws {
    let expected = (0..<300).map { text(16 + $0 % 48, $0 / 3) }
    let order = try decoded { $0.manyString = expected }
    #expect(order.manyString == expected)
  }

  @Test(arguments: [1, 2, 63, 64, 65, 200])
  func arraysGrowLikeOthers(count: Int) throws {
    let strings = (0..<count).map { text($0 % 70, $0) }
    let order = try decoded {
      $0.manyString = strings
      $0.manyNested = (0..<count).map { index in .with { $0.a = Int32(index) } }
      $0.oneBytes = Array(repeating: 7, count: count)
    }
    var copy = order
    copy.manyString.append("last")
    copy.manyNested.append(.with { $0.a = -1 })
    copy.manyNested[0].a = 5
    copy.oneBytes.append(8)
    copy.manyString.reserveCapacity(1000)
    #expect(copy.manyString == strings + ["last"] && order.manyString == strings)
    #expect(copy.manyNested.map(\.a) == [5] + (1..<Int32(count)) + [-1])
    #expect(order.manyNested.map(\.a) == Array(0..<Int32(count)))
    #expect(copy.oneBytes.suffix(2) == [7, 8] && order.oneBytes.count == count)
    copy.manyString.removeAll()
    copy.manyNested.removeLast(count)
    #expect(copy.manyNested.count == 1 && order.manyNested.count == count)
    // Elements that are merged come after those that are there.
    try copy.merge(serializedBytes: try order.serializedBytes())
    #expect(copy.manyString == strings && copy.manyNested.count == count + 1)
  }

  @Test func partsOutliveTheirMessage() throws {
    var nested: [Kinds.Nested] = []
    var single = Kinds.Nested()
    var bytes: [UInt8] = []
    do {
      let order = try decoded {
        $0.manyNested = [.with { $0.outer.oneString = text(50) }, .with { $0.a = 2 }]
        $0.oneNested.outer.manyString = [text(60)]
        $0.oneBytes = Array(0..<200)
      }
      nested = order.manyNested
      single = order.oneNested
      bytes = order.oneBytes
    }
    #expect(nested[0].outer.oneString == text(50) && nested[1].a == 2)
    #expect(single.outer.manyString == [text(60)] && bytes == Array(0..<200))
  }

  @Test func objectsOfFailedDecodingAreFreed() throws {
    // The elements before the one that fails stay.
    let good = try Kinds.with {
      $0.manyString = [text(30), text(30)]
      $0.manyNested = [.with { $0.a = 1 }]
    }.serializedBytes()
    let badString: [UInt8] = [0xE2, 0x02, 30, 0x41]
    let badNested: [UInt8] = [0xF2, 0x02, 1, 8]
    for bad in [badString, badNested] {
      var order = Kinds()
      #expect(throws: DecodeError.self) { try order.merge(serializedBytes: good + bad) }
      #expect(order.manyString == [text(30), text(30)] && order.manyNested.map(\.a) == [1])
      var empty = Kinds()
      #expect(throws: DecodeError.self) { try empty.merge(serializedBytes: bad) }
      #expect(empty.manyString.isEmpty && empty.manyNested.isEmpty && empty == Kinds())
    }
  }

  @Test func aReplacedStringIsFreed() throws {
    let first = try Kinds.with { $0.oneString = text(30) }.serializedBytes()
    let second = try Kinds.with { $0.choiceString = text(33) }.serializedBytes()
    let third = try Kinds.with { $0.choiceNested.outer.manyString = [text(33), text(30)] }.serializedBytes()
    let order = try Kinds(serializedBytes: first + second + third + first + second + third + second)
    #expect(order.oneString == text(30) && order.choiceString == text(33))
  }
}
