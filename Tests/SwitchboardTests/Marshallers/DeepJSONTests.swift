import Switchboard
import SwitchboardProtobuf
import Testing

/// JSON that is far deeper than any message is rejected, without overflowing the stack.
@Suite struct DeepJSONTests {
  private struct Tree: Codable, Sendable {
    let children: [Tree]

    init(from decoder: any Decoder) throws {
      children = try decoder.singleValueContainer().decode([Tree].self)
    }

    func encode(to encoder: any Encoder) throws {
      var container = encoder.singleValueContainer()
      try container.encode(children)
    }
  }

  private static let depth = 200_000

  @Test(arguments: [true, false]) func codableRejectsDeepJSON(_ isClosed: Bool) throws {
    let text =
      String(repeating: "[", count: Self.depth) + (isClosed ? String(repeating: "]", count: Self.depth) : "")
    let bytes = Array(text.utf8)
    #expect(throws: (any Error).self) {
      _ = try CodableJSONMarshaller<Tree>().decode(bytes.span.bytes)
    }
    let shallow = Array("[[],[[]]]".utf8)
    #expect(try CodableJSONMarshaller<Tree>().decode(shallow.span.bytes).children.count == 2)
  }

  @Test func protobufRejectsDeepJSON() throws {
    for piece in [#"{"x":"#, "["] {
      let bytes = Array(String(repeating: piece, count: Self.depth).utf8)
      #expect(throws: (any Error).self) {
        _ = try ProtobufJSONMarshaller<Google_Protobuf_Value>().decode(bytes.span.bytes)
      }
    }
  }
}
