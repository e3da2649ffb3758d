import SwitchboardDescriptors
import SwitchboardGenerator
import Testing

@Suite("Comments") struct CommentTests {
  /// The comment that is generated for a message with this comment in its source.
  private func comment(_ text: String) throws -> [String] {
    let request = Google_Protobuf_Compiler_CodeGeneratorRequest.with {
      $0.fileToGenerate = ["a.proto"]
      $0.protoFile = [
        .with {
          $0.name = "a.proto"
          $0.syntax = "proto3"
          $0.messageType = [.with { $0.name = "M" }]
          $0.sourceCodeInfo.location = [
            .with {
              $0.path = [4, 0]
              $0.leadingComments = text
            }
          ]
        }
      ]
    }
    let content = try #require(try Generator(request: request).files().first?.content)
    return content.split(separator: "\n").map(String.init).filter { $0.hasPrefix("///") }
  }

  @Test("Lines end where the source's lines end")
  func lines() throws {
    #expect(try comment(" One.\n Two.\n") == ["/// One.", "/// Two."])
    #expect(try comment(" One.\r\n\r\n Two.\r\n") == ["/// One.", "///", "/// Two."])
    #expect(try comment("Tight.\n\n\n") == ["/// Tight."])
    #expect(try comment("\n") == [])
  }

  @Test("Spaces at the end and control characters are left out")
  func characters() throws {
    #expect(try comment(" One. \t\n") == ["/// One."])
    #expect(try comment(" Tab\there.\u{1}\u{7F}\u{B}\n") == ["/// Tab\there."])
    #expect(try comment(" Größe…\u{3000}\n \u{A0}\n Ende\n") == ["/// Größe…", "///", "/// Ende"])
  }
}
