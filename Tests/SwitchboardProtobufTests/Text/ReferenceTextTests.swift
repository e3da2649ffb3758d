import ReferenceSupport
import SwitchboardProtobuf
import Testing

/// The text format compared with libprotobuf: the same text is accepted or rejected, and gives the same message.
@Suite struct ReferenceTextTests {
  private let reference: Reference
  private var decoding = TextFormatDecodingOptions()

  init() throws {
    reference = try TextSchema.reference()
    decoding.typeRegistry = TextCases.types
  }

  @Test func readsAlike() throws {
    for text in TextCases.kinds { try compareReading(text, as: Kinds.self) }
    for text in StructureCases.legacy { try compareReading(text, as: Legacy.self) }
  }

  @Test(arguments: TextCases.refused)
  func refusesMore(text: String) throws {
    #expect(throws: DecodeError.self) { try Kinds(textFormatString: text) }
    _ = try reference.convert("text.Kinds", from: .text, Array(text.utf8), to: .binary)
  }

  /// We write what the reference reads in the same way; on one line too.
  @Test func writesAlike() throws {
    for text in TextCases.kinds { try compareWriting(text, as: Kinds.self) }
    for text in StructureCases.legacy { try compareWriting(text, as: Legacy.self) }
  }

  @Test(
    arguments: [
      [16, 5], [21, 1, 2, 3, 4], [17, 1, 2, 3, 4, 5, 6, 7, 8], [18, 0], [18, 2, 8, 1], [18, 3, 97, 98, 99],
      [18, 4, 10, 2, 8, 1], [18, 3, 0xC3, 0xA9, 10], [19, 8, 1, 20, 16, 1], [19, 19, 8, 1, 20, 20],
      [18, 1, 19],
      [8, 3, 24, 255, 255, 255, 255, 255, 255, 255, 255, 255, 1],
      [18, 14, 18, 12, 18, 10, 18, 8, 18, 6, 18, 4, 18, 2, 8, 1],
      [
        18, 26, 18, 24, 18, 22, 18, 20, 18, 18, 18, 16, 18, 14, 18, 12, 18, 10, 18, 8, 18, 6, 18, 4, 18, 2, 8,
        1,
      ],
      [19] + [18, 22, 18, 20, 18, 18, 18, 16, 18, 14, 18, 12, 18, 10, 18, 8, 18, 6, 18, 4, 18, 2, 8, 1] + [
        20
      ],
    ] as [[UInt8]]
  )
  func writesUnknownFieldsAlike(bytes: [UInt8]) throws {
    let theirs = try reference.convert("text.SetItem", from: .binary, bytes, to: .text).string
    #expect(try SetItem(serializedBytes: bytes).textFormatString() == theirs)
  }

  @Test(
    arguments: [
      0, -0.0, 1, -1, 0.1, 0.5, 1.5, 100_000, 999_999, 1_000_000, 1e10, 1e15, 1e16, 1e17, 1e22, 1_234_560,
      0.0001, 0.00001, 0.000_123_45, 1e-7, .infinity, -.infinity, .nan, 3.14159,
    ]
  )
  func writesFloatsAlike(value: Double) throws {
    let message = Kinds.with {
      $0.wide = value
      $0.real = Float(value)
    }
    let bytes = try message.serializedBytes()
    let theirs = try reference.convert("text.Kinds", from: .binary, bytes, to: .text).string
    #expect(message.textFormatString() == theirs)
  }

  private func compareReading<M: Message>(_ text: String, as type: M.Type) throws {
    let ours = Result {
      try M(textFormatString: text, extensions: TextSchema.extensions, partial: true, options: decoding)
    }
    let theirs = Result {
      try reference.convert(M.protoMessageName, from: .text, Array(text.utf8), to: .binary).bytes
    }
    switch (ours, theirs) {
    case (.success(let message), .success(let bytes)):
      var options = BinaryEncodingOptions()
      options.deterministic = true
      #expect(try message.serializedBytes(partial: true, options: options) == bytes, "\(text)")
    case (.failure, .failure): break
    default: Issue.record("\(text.debugDescription): ours \(ours), theirs \(theirs)")
    }
  }

  private func compareWriting<M: Message>(_ text: String, as type: M.Type) throws {
    let input = Array(text.utf8)
    guard let bytes = try? reference.convert(M.protoMessageName, from: .text, input, to: .binary).bytes else {
      return
    }
    let message = try M(serializedBytes: bytes, extensions: TextSchema.extensions, partial: true)
    for isSingleLine in [false, true] {
      var reference = Reference.Options()
      reference.singleLine = isSingleLine
      var encoding = TextFormatEncodingOptions()
      encoding.singleLine = isSingleLine
      let theirs = try self.reference.convert(
        M.protoMessageName,
        from: .text,
        input,
        to: .text,
        options: reference
      )
      let ours = message.textFormatString(options: encoding)
      #expect(comparable(ours) == comparable(theirs.string), "\(text)")
    }
  }

  /// Text without intentional differences: the space at the end of a single line; numbers, because libprotobuf writes
  /// more digits than necessary; and characters outside ASCII, which it escapes by default.
  private func comparable(_ text: String) -> String {
    guard !text.hasPrefix("real:"), !text.hasPrefix("wide:") else { return "" }
    let unescaped = text.replacing(#/\\[2-3][0-7]{2}/#) { match in
      "\\x" + String(Int(match.output.dropFirst(), radix: 8) ?? 0)
    }
    let bytes = unescaped.utf8.flatMap { $0 < 0x80 ? [$0] : Array("\\x\($0)".utf8) }
    let plain = String(decoding: bytes, as: UTF8.self)
    return plain.hasSuffix(" ") ? String(plain.dropLast()) : plain
  }
}
