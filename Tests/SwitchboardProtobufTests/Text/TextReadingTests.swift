import SwitchboardProtobuf
import Testing

/// Error messages of the text format, limits and options. ``ReferenceTextTests`` tests that valid text is read
/// correctly.
@Suite struct TextReadingTests {
  private func error<M: Message>(
    _ text: String,
    as type: M.Type = Kinds.self,
    _ change: (inout TextFormatDecodingOptions) -> Void = { _ in }
  ) -> String? {
    var options = TextFormatDecodingOptions()
    change(&options)
    do throws(DecodeError) {
      _ = try M(textFormatString: text, extensions: TextSchema.extensions, options: options)
      return nil
    } catch {
      return error.description
    }
  }

  @Test func errorsSayWhere() {
    #expect(
      error("i32: 1\nchild {\n  é: 2 }")
        == "Kinds.child: line 3, column 3: expected a field name, found byte 195"
    )
    #expect(error("text: 'é' u32: -1") == "Kinds.u32: line 1, column 16: expected an integer")
    #expect(error("child { i32: 1") == "Kinds.child: line 1, column 15: expected a field name, found the end")
    #expect(error("nope: 1") == "Kinds: line 1, column 1: text.Kinds has no field 'nope'")
    #expect(error("text: '\\300'") == "Kinds.text: invalid UTF-8")
  }

  /// Like later releases of libprotobuf than the one that we compare with.
  @Test(arguments: [
    "id: 1 [text.no te]: 'x'", "id: 1 [te\txt.note]: 'x'", "id: 1 [text.no # comment\nte]: 'x'",
  ])
  func passesOverSpaceInNamesInBrackets(text: String) {
    #expect(error(text, as: Legacy.self) == nil)
  }

  @Test func errorsSayWhat() {
    #expect(error("u32: 4294967296") == "Kinds.u32: line 1, column 6: the integer is out of range")
    #expect(error("color: PINK") == "Kinds.color: line 1, column 8: text.Color has no value 'PINK'")
    #expect(
      error("i32: 1 i32: 2")
        == "Kinds.i32: line 1, column 8: the field, or another field of its oneof, is already set"
    )
    #expect(
      error("id: 1 [text.nope]: 1", as: Legacy.self)
        == "Legacy: line 1, column 7: text.Legacy has no extension 'text.nope'"
    )
    #expect(
      error("any { [a/b.C] {} }") == "Kinds.any: line 1, column 7: unknown type 'a/b.C'"
    )
  }

  @Test func rejectsMissingRequiredFields() throws {
    #expect(error("text: 'a'", as: Legacy.self) == "Legacy.id: missing required field")
    #expect(
      error("id: 1 [text.nested] {}", as: Legacy.self) == "Legacy.[text.nested]: missing required field"
    )
    #expect(try Legacy(textFormatString: "text: 'a'", partial: true).text == "a")
  }

  @Test func nestingHasALimit() throws {
    func nested(_ depth: Int) -> String {
      String(repeating: "child {", count: depth) + String(repeating: "}", count: depth)
    }
    #expect(error(nested(100)) == nil)
    let ends = (Array(repeating: "child", count: 5), Array(repeating: "child", count: 4))
    let path = (["Kinds"] + ends.0 + ["(92 more)"] + ends.1).joined(separator: ".")
    #expect(error(nested(101)) == path + ": nested too deep")
    #expect(error(nested(3)) { $0.messageDepthLimit = 2 } == "Kinds.child.child.child: nested too deep")
    #expect(error(String(repeating: "older {", count: 1_000_000))?.hasSuffix("nested too deep") == true)
    #expect(error("numbers: " + String(repeating: "[", count: 1_000_000)) != nil)
  }

  @Test func unknownFieldsCanBeIgnored() {
    let text = "new: [1, 2] newer { [a.b/c.D] < x: -inf > } i32: 1 counts { key: 'a' other: 1 }"
    #expect(error(text) != nil)
    #expect(error(text) { $0.ignoreUnknownFields = true } == nil)
    #expect(error("id: 1 [a.b]: 1", as: Legacy.self) { $0.ignoreUnknownFields = true } != nil)
    #expect(error("id: 1 [a.b]: 1", as: Legacy.self) { $0.ignoreUnknownExtensions = true } == nil)
  }

  @Test(
    arguments: [
      "non.default.domain/text.Kinds", "a.b/sub-path_0/~!$&()*+,;=/text.Kinds", "a/%2F/text.Kinds",
      " ty pe.go\nogleap\tis.com/\n te xt.Ki # comment\nnds ",
    ]
  )
  func anyTakesEveryURL(url: String) throws {
    var options = TextFormatDecodingOptions()
    options.typeRegistry = TextCases.types
    let message = try Kinds(textFormatString: "any { [\(url)] { i32: 12345 } }", options: options)
    let words = url.replacing(" # comment\n", with: "").filter { !$0.isWhitespace }
    #expect(message.any.typeURL == words)
    #expect(try Kinds(serializedBytes: message.any.value).i32 == 12345)
  }

  @Test(arguments: ["a/%ZZ/text.Kinds", "a/%2", "a/text.Kinds%", "a/{}/text.Kinds", "a@b/text.Kinds"])
  func anyRefusesOtherURLs(url: String) {
    #expect(error("any { [\(url)] {} }") { $0.typeRegistry = TextCases.types } != nil)
  }

  @Test func anyChecksRequiredFieldsOfItsMessage() throws {
    let text = "any { [a/text.Legacy] {} }"
    #expect(error(text) { $0.typeRegistry = [Legacy.self] } != nil)
  }
}
