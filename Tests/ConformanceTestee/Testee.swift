import ConformanceMessages
import SwitchboardProtobuf

/// Executes the requests of the conformance suite, one at a time.
struct Testee {
  private typealias Response = Conformance_ConformanceResponse

  /// Whether to replace the proto2 and proto3 messages by the equivalent messages of an edition.
  let usesEditions: Bool

  /// Parses the message in `request` and serializes it in the requested format.
  func respond(to request: Conformance_ConformanceRequest) -> Conformance_ConformanceResponse {
    // The first request asks for the expected failures: there are none.
    if request.messageType == Conformance_FailureSet.protoMessageName {
      return Response.with { $0.protobufPayload = [] }
    }
    let name = usesEditions ? MessageTypes.edition(of: request.messageType) : request.messageType
    guard let type = MessageTypes.type(named: name) else {
      return Response.with { $0.runtimeError = "no message type is called '\(request.messageType)'" }
    }
    return respond(to: request, as: type)
  }

  private func respond<M: Message>(to request: Conformance_ConformanceRequest, as type: M.Type)
    -> Conformance_ConformanceResponse
  {
    let message: M
    do throws(DecodeError) {
      guard let decoded = try read(type, from: request) else {
        return Response.with { $0.skipped = "this format of the payload is not supported" }
      }
      message = decoded
    } catch {
      return Response.with { $0.parseError = "\(error)" }
    }
    do throws(EncodeError) {
      return try write(message, for: request)
    } catch {
      return Response.with { $0.serializeError = "\(error)" }
    }
  }

  /// Nil if the format of the payload is not supported.
  private func read<M: Message>(
    _ type: M.Type,
    from request: Conformance_ConformanceRequest
  ) throws(DecodeError) -> M? {
    switch request.payload {
    case .protobufPayload(let bytes):
      return try M(serializedBytes: bytes, extensions: MessageTypes.extensions)
    case .jsonPayload(let text):
      var options = JSONDecodingOptions()
      options.ignoreUnknownFields = request.testCategory == .jsonIgnoreUnknownParsingTest
      options.typeRegistry = MessageTypes.registry
      return try M(jsonString: text, extensions: MessageTypes.extensions, options: options)
    case .textPayload(let text):
      var options = TextFormatDecodingOptions()
      options.typeRegistry = MessageTypes.registry
      return try M(textFormatString: text, extensions: MessageTypes.extensions, options: options)
    case .jspbPayload, nil:
      return nil
    }
  }

  private func write<M: Message>(
    _ message: M,
    for request: Conformance_ConformanceRequest
  ) throws(EncodeError) -> Conformance_ConformanceResponse {
    var response = Response()
    switch request.requestedOutputFormat {
    case .protobuf:
      response.protobufPayload = try message.serializedBytes()
    case .json:
      var options = JSONEncodingOptions()
      options.typeRegistry = MessageTypes.registry
      response.jsonPayload = try message.jsonString(options: options)
    case .textFormat:
      var options = TextFormatEncodingOptions()
      options.printUnknownFields = request.printUnknownFields
      options.typeRegistry = MessageTypes.registry
      response.textPayload = message.textFormatString(options: options)
    case .unspecified, .jspb, .UNRECOGNIZED:
      response.skipped = "this format of the output is not supported"
    }
    return response
  }
}
