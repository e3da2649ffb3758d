import Switchboard
import SwitchboardProtobuf
import Testing

@Suite struct ContentSubtypeTests {
  @Test(arguments: [
    ("json", "application/grpc+json"), ("JSON", "application/grpc+json"), ("", "application/grpc"),
    ("a b\r\nx: y", "application/grpc+abxy"), ("vnd.a-b_c+d", "application/grpc+vnd.a-b_c+d"),
  ])
  func namesKeepOnlyCharactersOfMediaTypes(_ sample: (name: String, contentType: String)) {
    #expect(ContentSubtype(sample.name).contentType == sample.contentType)
  }

  @Test func protobufReadsUnnamedAndProto() {
    let marshaller = ProtobufMarshaller<Google_Protobuf_Empty>()
    #expect(marshaller.contentSubtype == .unnamed)
    #expect(marshaller.reads(.unnamed))
    #expect(marshaller.reads("proto"))
    #expect(!marshaller.reads(.json))
  }

  @Test func unnamedBytesAcceptAnySubtype() {
    #expect(BytesMarshaller().reads(.json))
    #expect(BytesMarshaller(.json).reads(.json))
    #expect(!BytesMarshaller(.json).reads(.proto))
  }
}
