import SwitchboardProtobuf
import Testing

@Suite struct UnknownFieldsTests {
  @Test func startsEmpty() {
    #expect(UnknownFields().isEmpty)
  }
}
