import EchoService
import Switchboard
import Testing

@Suite struct BinaryMistakeTests {
  private func failure(_ bytes: [UInt8]) -> String? {
    do {
      _ = try ProtobufMarshaller<Echo_EchoRequest>().decode(bytes.span.bytes)
      return nil
    } catch {
      return "\(error)"
    }
  }

  /// As by a client that sends JSON with the content type of binary messages.
  @Test func jsonInPlaceOfBinaryIsRecognized() {
    let hint = "it looks like JSON, and the content type says binary; that of JSON is application/grpc+json"
    for text in [#"{"text": "tea"}"#, "{}", "{\n}\n"] {
      #expect(failure(Array(text.utf8))?.hasSuffix(hint) == true, "\(text)")
    }
    #expect(failure([0x0a, 5, 0x61]) == "EchoRequest.text: truncated")
    #expect(failure(Array("{".utf8))?.contains("JSON") == false)
  }
}
