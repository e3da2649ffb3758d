import SwitchboardProtobuf
import Testing

@testable import GoldenExtensions
@testable import GoldenOneofs
@testable import GoldenPrefixes
@testable import GoldenProto2

/// What the accessors in the expected output of the generator do.
@Suite("Generated accessors")
struct GeneratedAccessorTests {
  private typealias Defaults = Golden_Proto2_Defaults

  @Test("A field that is not set has the default that it declares")
  func defaults() {
    let message = Defaults()
    #expect(message.negative == .min)
    #expect(message.largest == .max)
    #expect(message.floatInfinity == .infinity)
    #expect(message.notANumber.isNaN)
    #expect(message.yes)
    #expect(message.data == [0, 1, 255, 97, 92, 34, 10])
    #expect(message.level == .high)
    #expect(message.minusZero == 0 && message.minusZero.sign == .minus)
    #expect(message.zero == 0 && !message.no && message.empty.isEmpty && message.noData.isEmpty)
    #expect(message.none == Golden_Proto2_Level.none && message.first == .good && message.second == .bad)
    #expect(!message.hasNegative && !message.hasText && !message.hasData && !message.hasSecond)
  }

  @Test("A field that is set to a default, or to a zero, is set")
  func presence() {
    var message = Defaults()
    (message.negative, message.yes, message.second, message.text, message.data) = (0, true, .good, "", [])
    #expect(message.hasNegative && message.hasYes && message.hasSecond && message.hasText && message.hasData)
    #expect(message.negative == 0 && message.second == .good && message.text.isEmpty && message.data.isEmpty)
    message.clearNegative()
    message.clearText()
    message.clearSecond()
    #expect(!message.hasNegative && !message.hasText && !message.hasSecond)
    #expect(message.negative == .min && message.text.hasPrefix("a \"quoted\"") && message.second == .bad)
  }

  @Test("Changes in place begin with the default")
  func inPlace() {
    var message = Defaults()
    message.text += "!"
    message.data.append(7)
    message.word += "s"
    #expect(message.text.hasSuffix("ü!"))
    #expect(message.data == [0, 1, 255, 97, 92, 34, 10, 7])
    #expect(message.choice == .word("words"))
    message.bits.append(2)
    #expect(message.choice == .bits([1, 2]))
  }

  @Test("A oneof has one member; the others have their defaults")
  func oneof() {
    var message = Defaults()
    #expect(message.choice == nil)
    #expect(message.number == -5 && message.chosen && message.word == "word" && message.bits == [1])
    #expect(message.grade == .bad && message.plain == .good)
    message.number = 0
    #expect(message.choice == .number(0) && message.number == 0)
    message.choice = .grade(.good)
    #expect(message.grade == .good && message.number == -5)
    message.choice = .word("")
    #expect(message.word.isEmpty && message.grade == .bad)
    message.choice = nil
    #expect(message.choice == nil && message.word == "word")
    #expect(message == Defaults())
  }

  @Test("Every member of a oneof can be set by the oneof, whatever its name", arguments: 0..<5)
  func awkwardMembers(index: Int) throws {
    typealias Awkward = Golden_Oneofs_Choices.OneOf_Awkward
    let values: [Awkward] = [.self_p(1), Awkward.none(2), Awkward.some(3), .default(4), .value(5)]
    var message = Golden_Oneofs_Choices()
    message.awkward = values[index]
    #expect(message.awkward == values[index])
    let all = [message.self_p, message.none, message.some, message.default, message.value]
    #expect(all == (0..<5).map { $0 == index ? Int32($0 + 1) : 0 })
    let read = try Golden_Oneofs_Choices(serializedBytes: message.serializedBytes())
    #expect(read.awkward == values[index])
  }

  @Test("A member named none is not the absence of members")
  func memberNamedNone() {
    var message = Golden_Oneofs_Choices()
    message.awkward = .none(2)
    guard case .none(let value)? = message.awkward else {
      Issue.record("no member is set")
      return
    }
    #expect(value == 2 && message.awkward != nil)
    message.awkward = nil
    #expect(message.awkward == nil && message.none == 0)
  }

  @Test("Fields keep their values next to each other, whatever the order of their numbers")
  func order() throws {
    var message = Golden_Proto2_Disorder()
    message.last = "last"
    message.levels = [.high, .low]
    message.same.last = "same"
    message.level = .below
    message.part = .with {
      $0.number = 9
      $0.level = .low
    }
    #expect(message.right == .level(.below))
    #expect(message.last == "last" && message.levels == [.high, .low] && message.same.last == "same")
    #expect(message.part.number == 9)
    let read = try Golden_Proto2_Disorder(serializedBytes: message.serializedBytes())
    #expect(read == message)
    #expect(try Golden_Proto2_Disorder(jsonString: message.jsonString()) == message)
    #expect(try message.jsonString().contains("\"a-b\":\"last\""))
  }

  @Test("Fields and extensions may have the names of hidden members")
  func hiddenNames() {
    var message = _tableMessage()
    (message.storage_p1, message.storage_p2, message._Table, message._storage_p100) = (1, 2, 3, 4)
    #expect(message.textFormatString() == "storage: 1\n_storage: 2\n__table: 3\n[storage]: 4\n")
  }

  @Test("Extensions and unknown fields have their own memory")
  func extensions() throws {
    var message = Golden_Ext_Extended()
    message.before = 1
    message.Golden_Ext_number = 7
    message.between = 2
    message.nested.between = 3
    message.unknownFields = try Golden_Ext_Plain(serializedBytes: [0x78, 0x05]).unknownFields
    let copy = message
    message.before = 9
    message.Golden_Ext_number = 8
    #expect(copy.before == 1 && copy.between == 2 && copy.nested.between == 3 && copy.Golden_Ext_number == 7)
    #expect(message.before == 9 && message.Golden_Ext_number == 8)
    #expect(message.unknownFields == copy.unknownFields && message != copy)
  }
}
