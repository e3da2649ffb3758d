import SwitchboardDescriptors
import SwitchboardProtobuf
import TestMessages
import Testing

/// What is left of a message after a change that failed: a message that can be used.
@Suite struct FailedChangeTests {
  private typealias Kinds = Switchboard_Testing_AllKinds2

  @Test func theMemberOfAOneofIsNotHalfSetAfterAMerge() throws {
    var message = Kinds.with { $0.choiceNested.a = 5 }
    let before = message
    #expect(throws: DecodeError.self) {
      try message.merge(serializedBytes: WireBytes.delimited(112, [0x08]))
    }
    #expect(try Kinds(serializedBytes: message.serializedBytes()) == message)
    #expect(before.choiceNested.a == 5)
    message.choiceNested.a = 6
    #expect(message.choice == .choiceNested(.with { $0.a = 6 }))
  }

  /// A truncated string, and truncated bytes.
  @Test(arguments: [Int32(113), 114]) func aMemberThatCannotBeReadIsNotSet(number: Int32) throws {
    for before in [Kinds(), .with { $0.choiceNested.a = 5 }] {
      var message = before
      let truncated = Array(WireBytes.delimited(number, [0x61, 0x62]).dropLast())
      #expect(throws: DecodeError.self) { try message.merge(serializedBytes: truncated, partial: true) }
      #expect(message == before && message.choice == before.choice)
      #expect(try message.serializedBytes(partial: true) == before.serializedBytes(partial: true))
    }
  }

  @Test func earlierValuesStay() throws {
    var message = Kinds.with {
      $0.oneNested.a = 1
      $0.manyInt32 = [1]
      $0.manyString = ["a"]
      $0.manyNested = [.with { $0.a = 1 }]
    }
    // one_nested, many_int32, many_string and many_nested
    for number: Int32 in [18, 31, 44, 46] {
      let broken = Array(WireBytes.delimited(number, [0x08, 0x80]).dropLast())
      #expect(throws: DecodeError.self) { try message.merge(serializedBytes: broken, partial: true) }
    }
    #expect(message.oneNested.a == 1 && message.manyInt32.first == 1)
    #expect(message.manyString.first == "a" && message.manyNested.first?.a == 1)
  }

  @Test func theMemberOfAOneofIsNotHalfSetAfterAMismatch() throws {
    let pool = try DescriptorPool(TestPool.files)
    let type = try #require(pool.messageType(named: Kinds.protoMessageName))
    var message = DynamicMessage(type)
    try message.modify("choice_nested") { nested throws(DynamicFieldError) in
      try nested.set("a", to: .int32(1))
    }
    #expect(throws: DynamicFieldError.self) {
      try message.modify("choice_nested") { $0 = DynamicMessage(type) }
    }
    #expect(try DynamicMessage(type, serializedBytes: message.serializedBytes()) == message)
  }

  /// Messages that are used after each of several merges, some of which fail, and copies of them, which stay the same.
  @Test(arguments: 0..<20)
  func messagesStayUsable(seed: Int) throws {
    let comparison = try Comparison()
    try stayUsable(Kinds.self, comparison, seed)
    try stayUsable(Switchboard_Testing_AllKinds3.self, comparison, seed)
  }

  private func stayUsable<M: Message>(_ type: M.Type, _ comparison: Comparison, _ seed: Int) throws {
    var message = M()
    var dynamic = DynamicMessage(try TestPool.type(of: type))
    var copies: [(message: M, bytes: [UInt8])] = []
    for bytes in comparison.messages(of: type, seed: seed) {
      for part in [bytes, Array(bytes.prefix(bytes.count / 2)), Array(bytes.dropLast())] {
        try? message.merge(serializedBytes: part, extensions: TestProtos.extensions, partial: true)
        try? dynamic.merge(serializedBytes: part, partial: true)
        copies.append((message, try comparison.deterministicBytes(of: message)))
        _ = (message.hashValue, message.textFormatString(), try? message.jsonString(partial: true))
        _ = (dynamic.hashValue, dynamic.textFormatString(), try dynamic.serializedBytes(partial: true))
      }
    }
    for copy in copies { #expect(try comparison.deterministicBytes(of: copy.message) == copy.bytes) }
  }
}
