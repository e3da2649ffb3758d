import GoogleAPIMessages
import RESTService
import Switchboard
import SwitchboardDescriptors
import SwitchboardProtobuf
import Testing

@testable import SwitchboardREST

/// Messages between their parts and the handler.
@Suite struct RESTMarshallerTests {
  private func described(_ name: String) throws -> MessageTable {
    let files = try RESTFixture.files.map { try Google_Protobuf_FileDescriptorProto(serializedBytes: $0) }
    return try #require(try DescriptorPool(files).messageType(named: name))
  }

  @Test func generatedTypesHaveWhatTheirDescriptorsDescribe() throws {
    #expect(try described("testing.rest.Everything").describes(Testing_Rest_Everything.self))
    #expect(try described("testing.rest.Upload").describes(Testing_Rest_Upload.self))
    #expect(try described("google.api.HttpBody").describes(Google_Api_HttpBody.self))
    #expect(try !described("testing.rest.Upload").describes(Testing_Rest_Everything.self))
    // A file declares extensions of one of the two, and of one in the messages of the other.
    #expect(try described("google.protobuf.SourceCodeInfo").describes(Google_Protobuf_SourceCodeInfo.self))
    #expect(try !described("google.protobuf.MethodOptions").describes(Google_Protobuf_MethodOptions.self))
    let service = try described("google.protobuf.ServiceDescriptorProto")
    #expect(!service.describes(Google_Protobuf_ServiceDescriptorProto.self))
  }

  /// As SwiftProtobuf's are.
  @Test func messagesOfOtherTypesAreConvertedByTheirMarshaller() throws {
    guard
      case .route(let route, let path) = try RESTFixture.table().match(
        Array("POST".utf8),
        Array("/v1/all".utf8)[...]
      )
    else { throw RESTFixture.NoRoute() }
    let json = #"{"text":"x","inner":{"number":"3"}}"#
    let format = RESTFormat(route, JSONDecodingOptions(), JSONEncodingOptions(), requestsAreBodies: false)
    let own = BytesMarshaller(.proto)
    let request = RequestParts.head(of: route, path, query: [], mediaType: []) + Array(json.utf8)
    let binary = try RESTMarshaller(format, route.request, own).decode(request.span.bytes)
    #expect(binary == (try Testing_Rest_Everything(jsonString: json).serializedBytes()))
    let response = try RESTMarshaller(format, route.response, own).encode(binary)
    #expect(response.withBytes { own.decode($0) } == Array(json.utf8))
  }
}
