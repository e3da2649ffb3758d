import RESTService
import Switchboard
import SwitchboardDescriptors
import SwitchboardOpenAPI
import SwitchboardProtobuf
import SwitchboardText

@testable import SwitchboardREST

/// The descriptors of the tests' service.
enum RESTFixture {
  static var files: [[UInt8]] {
    Testing_Rest_RestMetadata.reflectionData.map { Base64.decode($0.utf8) ?? [] }
  }

  static func table(_ rules: [HTTPRule] = []) throws -> RESTTable {
    try RESTTable(try DescribedAPI(files: files, services: ["testing.rest.Rest"], rules: rules))
  }

  /// The request that a route makes of an HTTP request.
  static func request(
    _ method: String,
    _ target: String,
    body: String = "",
    options: JSONDecodingOptions = JSONDecodingOptions()
  ) throws -> Testing_Rest_Everything {
    let parts = Array(target.utf8)
      .split(separator: UInt8(ascii: "?"), maxSplits: 1, omittingEmptySubsequences: false)
    guard case .route(let route, let path) = try table().match(Array(method.utf8), parts[0])
    else {
      throw NoRoute()
    }
    let query = parts.count > 1 ? Array(parts[1]) : []
    let bytes = RequestParts.head(of: route, path, query: query[...], mediaType: []) + Array(body.utf8)
    let format = RESTFormat(route, options, JSONEncodingOptions(), requestsAreBodies: false)
    let marshaller = RESTMarshaller(format, route.request, ProtobufMarshaller<Testing_Rest_Everything>())
    do {
      return try marshaller.decode(bytes.span.bytes)
    } catch let error as RefusedMessage {
      throw error.status
    }
  }

  struct NoRoute: Error {}

  /// A type with several messages in a oneof.
  static func oneofs() throws -> MessageTable {
    let text = """
      name: "oneofs.proto" package: "oneofs" syntax: "proto3"
      dependency: "google/protobuf/wrappers.proto" dependency: "google/protobuf/timestamp.proto"
      message_type {
        name: "Choices"
        oneof_decl { name: "choice" }
        field { name: "first" number: 1 type: TYPE_MESSAGE type_name: ".oneofs.Choices" label: LABEL_OPTIONAL oneof_index: 0 }
        field { name: "second" number: 2 type: TYPE_MESSAGE type_name: ".oneofs.Choices" label: LABEL_OPTIONAL oneof_index: 0 }
        field { name: "word" number: 3 type: TYPE_STRING label: LABEL_OPTIONAL oneof_index: 0 }
        field { name: "wrapped" number: 4 type: TYPE_MESSAGE type_name: ".google.protobuf.StringValue" label: LABEL_OPTIONAL oneof_index: 0 }
        field { name: "stamp" number: 5 type: TYPE_MESSAGE type_name: ".google.protobuf.Timestamp" label: LABEL_OPTIONAL oneof_index: 0 }
        field { name: "plain" number: 6 type: TYPE_MESSAGE type_name: ".oneofs.Choices" label: LABEL_OPTIONAL }
        field { name: "other" number: 7 type: TYPE_MESSAGE type_name: ".oneofs.Choices" label: LABEL_OPTIONAL }
        field { name: "text" number: 8 type: TYPE_STRING label: LABEL_OPTIONAL }
      }
      """
    let own = try Google_Protobuf_FileDescriptorProto(textFormatString: text)
    let known = try files.map { try Google_Protobuf_FileDescriptorProto(serializedBytes: $0) }
    let pool = try DescriptorPool(known.filter { $0.name.hasPrefix("google/protobuf/") } + [own])
    guard let type = pool.messageType(named: "oneofs.Choices") else { throw NoRoute() }
    return type
  }
}
