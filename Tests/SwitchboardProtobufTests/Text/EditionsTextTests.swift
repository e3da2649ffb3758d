import SwitchboardProtobuf
import TestMessages
import Testing

/// Features of editions in the text format. Debian's libprotobuf does not support editions: the expected texts are the
/// output of Python's protobuf 7.36.
@Suite struct EditionsTextTests {
  private func rewrite(_ text: String) throws -> String {
    let extensions = Switchboard_Testing_AllKindsEditions_Extensions
    return try Switchboard_Testing_AllKindsEditions(textFormatString: text, extensions: extensions)
      .textFormatString()
  }

  @Test(
    arguments: [
      ("GroupLikeType { group_int32: 1 }", "GroupLikeType {\n  group_int32: 1\n}\n"),
      ("groupliketype { }", "GroupLikeType {\n}\n"),
      ("grouplike_type {}", "grouplike_type {\n}\n"),
      ("many_delimited { a: 1 } many_delimited {}", "many_delimited {\n  a: 1\n}\nmany_delimited {\n}\n"),
      ("manygroupliketype {}", "ManyGroupLikeType {\n}\n"),
      ("choice_delimited { a: 1 }", "choice_delimited {\n  a: 1\n}\n"),
      ("recursive_delimited { GroupLikeType {} }", "recursive_delimited {\n  GroupLikeType {\n  }\n}\n"),
      (
        "[switchboard.testing.editions_delimited] { c: 1 }",
        "[switchboard.testing.editions_delimited] {\n  c: 1\n}\n"
      ),
      (
        "[switchboard.testing.editions_packed]: [1, 2]",
        "[switchboard.testing.editions_packed]: 1\n[switchboard.testing.editions_packed]: 2\n"
      ),
      ("one_color: 99", "one_color: 99\n"),
    ]
  )
  func rewritesText(text: String, expected: String) throws {
    #expect(try rewrite(text) == expected)
  }

  @Test(
    arguments: [
      "Nested {}", "[switchboard.testing.OuterEditions] { c: 1 }",
      "[switchboard.testing.editions_closed_color]: 99",
    ]
  )
  func rejectsInvalidText(text: String) {
    #expect(throws: DecodeError.self) { try rewrite(text) }
  }
}
