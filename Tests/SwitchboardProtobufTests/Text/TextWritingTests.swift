import SwitchboardProtobuf
import Testing

/// Text output that options affect. The rest is in ``ReferenceTextTests``.
@Suite struct TextWritingTests {
  private func wrapped(_ content: Kinds, times: Int = 1) throws -> Kinds {
    var message = content
    for _ in 0..<times {
      let bytes = try message.serializedBytes()
      message = Kinds()
      message.any = Google_Protobuf_Any.with {
        $0.typeURL = "type.googleapis.com/text.Kinds"
        $0.value = bytes
      }
    }
    return message
  }

  private var knowingTypes: TextFormatEncodingOptions {
    var options = TextFormatEncodingOptions()
    options.typeRegistry = TextCases.types
    options.singleLine = true
    return options
  }

  @Test func keepsUTF8InStrings() {
    let message = Kinds.with {
      $0.text = "é\u{1}\u{7F}'\""
      $0.data = Array("é".utf8) + [0, 255]
    }
    #expect(message.textFormatString() == #"text: "é\001\177\'\""\#ndata: "\303\251\000\377"\#n"#)
  }

  @Test func writesAsManyDigitsAsItTakes() throws {
    for value in [
      0.1, 1.0 / 3, 0.1 + 0.2, 1e23, .leastNonzeroMagnitude, .greatestFiniteMagnitude, 123_456_789.125, 2e-44,
    ] {
      let message = Kinds.with {
        $0.wide = value
        $0.real = Float(value)
      }
      #expect(try Kinds(textFormatString: message.textFormatString()) == message)
    }
    #expect(Kinds.with { $0.real = 3.4028235e38 }.textFormatString() == "real: 3.4028235e+38\n")
  }

  @Test func writesUnknownNumbersOfEnums() {
    #expect(Kinds.with { $0.color = .UNRECOGNIZED(7) }.textFormatString() == "color: 7\n")
  }

  @Test func unknownFieldsCanBeLeftOut() throws {
    var options = TextFormatEncodingOptions()
    options.printUnknownFields = false
    let message = try SetItem(serializedBytes: [8, 1, 16, 2])
    #expect(message.textFormatString() == "a: 1\n2: 2\n")
    #expect(message.textFormatString(options: options) == "a: 1\n")
  }

  @Test func invalidUnknownFieldsAreOmitted() {
    for bytes: [UInt8] in [[255], [19], [20], [18, 5], [13, 1], [9, 1], [0], [7]] {
      #expect(SetItem.with { $0.unknownFields.bytes = bytes }.textFormatString() == "")
    }
    let groups = [UInt8](repeating: 19, count: 1_000_000) + [UInt8](repeating: 20, count: 1_000_000)
    #expect(SetItem.with { $0.unknownFields.bytes = groups }.textFormatString() == "")
  }

  @Test func writesWhatAnAnyHolds() throws {
    let message = try wrapped(Kinds.with { $0.i32 = 1 })
    #expect(
      message.textFormatString(options: knowingTypes)
        == "any { [type.googleapis.com/text.Kinds] { i32: 1 } }"
    )
    let plain = #"any {\#n  type_url: "type.googleapis.com/text.Kinds"\#n  value: "\010\001"\#n}\#n"#
    #expect(message.textFormatString() == plain)
  }

  @Test(arguments: ["x", "a/text.Nope", "a/%Z/text.Kinds", "a b/text.Kinds", "/text.Kinds"])
  func writesAnInvalidAnyAsItsFields(url: String) {
    let message = Kinds.with { $0.any = .with { $0.typeURL = url } }
    #expect(message.textFormatString(options: knowingTypes) == "any { type_url: \"\(url)\" }")
  }

  @Test func anyWithBrokenBytesIsWrittenAsItsFields() {
    let message = Kinds.with {
      $0.any = .with {
        $0.typeURL = "a/text.Kinds"
        $0.value = [8]
      }
    }
    #expect(
      message.textFormatString(options: knowingTypes) == #"any { type_url: "a/text.Kinds" value: "\010" }"#
    )
  }

  @Test func anyInAnyHasALimit() throws {
    let text = try wrapped(Kinds.with { $0.i32 = 1 }, times: 150).textFormatString(options: knowingTypes)
    #expect(text.split(separator: "[").count == 101)
  }

  @Test func describesItselfForDebugging() {
    #expect(Kinds.with { $0.i32 = 1 }.debugDescription == "text.Kinds:\ni32: 1\n")
    var deep = Kinds()
    for _ in 0..<200 { deep = Kinds.with { $0.children = [deep] } }
    let lines = deep.debugDescription.split(separator: "\n")
    #expect(lines.count == 202)
    #expect(lines[101] == String(repeating: " ", count: 200) + "children { ... }")
  }
}
