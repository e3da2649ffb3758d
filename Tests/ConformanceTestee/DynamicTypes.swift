import ConformanceMessages
import SwitchboardDescriptors
import SwitchboardProtobuf

/// The messages of the conformance suite as descriptors describe them, without generated code.
struct DynamicTypes {
  private let pool: DescriptorPool
  private let registry: TypeRegistry

  /// The types of a serialized `FileDescriptorSet`.
  init(serializedDescriptors bytes: [UInt8]) throws {
    pool = try DescriptorPool(Google_Protobuf_FileDescriptorSet(serializedBytes: bytes))
    registry = pool.typeRegistry
  }

  /// The type with this full name.
  func type(named name: String) -> MessageTable? { pool.messageType(named: name) }

  /// Nil if the format of the payload is not supported.
  func read(
    _ type: MessageTable,
    from request: Conformance_ConformanceRequest
  ) throws(DecodeError) -> DynamicMessage? {
    switch request.payload {
    case .protobufPayload(let bytes): return try DynamicMessage(type, serializedBytes: bytes)
    case .jsonPayload(let text):
      return try DynamicMessage(type, jsonString: text, options: request.jsonDecodingOptions(registry))
    case .textPayload(let text):
      var options = TextFormatDecodingOptions()
      options.typeRegistry = registry
      return try DynamicMessage(type, textFormatString: text, options: options)
    case .jspbPayload, nil: return nil
    }
  }

  func write(
    _ message: DynamicMessage,
    for request: Conformance_ConformanceRequest
  ) throws(EncodeError) -> Conformance_ConformanceResponse {
    var response = Conformance_ConformanceResponse()
    switch request.requestedOutputFormat {
    case .protobuf: response.protobufPayload = try message.serializedBytes()
    case .json:
      var options = JSONEncodingOptions()
      options.typeRegistry = registry
      response.jsonPayload = try message.jsonString(options: options)
    case .textFormat:
      response.textPayload = message.textFormatString(options: request.textEncodingOptions(registry))
    case .unspecified, .jspb, .UNRECOGNIZED:
      response.skipped = "this format of the output is not supported"
    }
    return response
  }
}

extension Conformance_ConformanceRequest {
  /// How the request wants JSON to be read.
  func jsonDecodingOptions(_ registry: TypeRegistry) -> JSONDecodingOptions {
    var options = JSONDecodingOptions()
    options.ignoreUnknownFields = testCategory == .jsonIgnoreUnknownParsingTest
    options.typeRegistry = registry
    return options
  }

  /// How the request wants text to be written.
  func textEncodingOptions(_ registry: TypeRegistry) -> TextFormatEncodingOptions {
    var options = TextFormatEncodingOptions()
    options.printUnknownFields = printUnknownFields
    options.typeRegistry = registry
    return options
  }
}
