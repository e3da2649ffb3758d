import SwitchboardDescriptors
import SwitchboardProtobuf
import TestMessages
import Testing

/// A dynamic message does what the generated one does: with the same bytes, in all formats.
@Suite struct DynamicDifferentialTests {
  private let comparison: Comparison

  init() throws { comparison = try Comparison() }

  @Test(arguments: 0..<60)
  func agreesOnProto3(seed: Int) throws { try compare(Switchboard_Testing_AllKinds3.self, seed: seed) }

  @Test(arguments: 0..<60)
  func agreesOnProto2(seed: Int) throws { try compare(Switchboard_Testing_AllKinds2.self, seed: seed) }

  private func compare<M: Message>(_ generated: M.Type, seed: Int) throws {
    let type = try TestPool.type(of: generated)
    for bytes in comparison.messages(of: generated, seed: seed) {
      let extensions = TestProtos.extensions
      let theirs = Result { try M(serializedBytes: bytes, extensions: extensions, partial: true) }
      let ours = Result { try DynamicMessage(type, serializedBytes: bytes, partial: true) }
      guard let message = try? theirs.get(), let dynamic = try? ours.get() else {
        #expect((try? theirs.get()) == nil && (try? ours.get()) == nil, "verdict on \(bytes)")
        continue
      }
      try compare(dynamic, message, bytes)
      try mergesTwice(dynamic, message, bytes)
    }
  }

  private func compare<M: Message>(_ dynamic: DynamicMessage, _ message: M, _ bytes: [UInt8]) throws {
    var options = BinaryEncodingOptions()
    options.deterministic = true
    let written = try dynamic.serializedBytes(partial: true, options: options)
    #expect(written == (try message.serializedBytes(partial: true, options: options)), "binary of \(bytes)")
    #expect(try dynamic.serializedSize() == message.serializedSize())
    #expect(dynamic.isInitialized == message.isInitialized, "initialization of \(bytes)")
    #expect(dynamic.textFormatString() == message.textFormatString(), "text of \(bytes)")
    let again = try DynamicMessage(dynamic.type, serializedBytes: written, partial: true)
    // A message that holds NaN differs from what is read of its bytes. So does a generated one with an extension that is
    // set to no values.
    let extensions = TestProtos.extensions
    if try M(serializedBytes: written, extensions: extensions, partial: true) == message {
      #expect(again == dynamic && again.hashValue == dynamic.hashValue, "equality of \(bytes)")
    }
    try compareJSON(dynamic, message, bytes)
    try compareText(dynamic, message, bytes)
  }

  private func compareJSON<M: Message>(_ dynamic: DynamicMessage, _ message: M, _ bytes: [UInt8]) throws {
    var options = JSONEncodingOptions()
    options.deterministic = true
    let theirs = try? message.jsonString(partial: true, options: options)
    #expect((try? dynamic.jsonString(partial: true, options: options)) == theirs, "JSON of \(bytes)")
    guard let theirs else { return }
    let back = try? M(jsonString: theirs, extensions: TestProtos.extensions, partial: true)
    let dynamicBack = try? DynamicMessage(dynamic.type, jsonString: theirs, partial: true)
    try expectSameBytes(dynamicBack, back, "from JSON \(theirs)")
  }

  private func compareText<M: Message>(_ dynamic: DynamicMessage, _ message: M, _ bytes: [UInt8]) throws {
    var options = TextFormatEncodingOptions()
    options.printUnknownFields = false
    let text = message.textFormatString(options: options)
    let back = try? M(textFormatString: text, extensions: TestProtos.extensions, partial: true)
    let dynamicBack = try? DynamicMessage(dynamic.type, textFormatString: text, partial: true)
    try expectSameBytes(dynamicBack, back, "from text \(text)")
  }

  private func mergesTwice<M: Message>(_ dynamic: DynamicMessage, _ message: M, _ bytes: [UInt8]) throws {
    var message = message
    var merged = dynamic
    try message.merge(serializedBytes: bytes, extensions: TestProtos.extensions, partial: true)
    try merged.merge(serializedBytes: bytes, partial: true)
    try expectSameBytes(merged, message, "twice \(bytes)")
    let untouched = try DynamicMessage(dynamic.type, serializedBytes: bytes, partial: true)
    try expectSameBytes(dynamic, untouched, "the original of what was merged, \(bytes)")
  }

  private func expectSameBytes(_ dynamic: DynamicMessage?, _ other: DynamicMessage, _ what: String) throws {
    var options = BinaryEncodingOptions()
    options.deterministic = true
    let theirs = try other.serializedBytes(partial: true, options: options)
    #expect(try dynamic?.serializedBytes(partial: true, options: options) == theirs, "\(what)")
  }

  private func expectSameBytes<M: Message>(_ dynamic: DynamicMessage?, _ message: M?, _ what: String) throws {
    var options = BinaryEncodingOptions()
    options.deterministic = true
    let theirs = try message?.serializedBytes(partial: true, options: options)
    #expect(try dynamic?.serializedBytes(partial: true, options: options) == theirs, "\(what)")
  }
}
