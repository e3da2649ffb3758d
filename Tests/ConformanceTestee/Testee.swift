import ConformanceMessages
import SwitchboardProtobuf

/// Executes the requests of the conformance suite, one at a time.
struct Testee {
  private typealias Response = Conformance_ConformanceResponse

  /// Whether to replace the proto2 and proto3 messages by the equivalent messages of an edition.
  let usesEditions: Bool

  /// The messages that descriptors describe, to be used instead of the generated ones.
  var dynamicTypes: DynamicTypes?

  /// Parses the message in `request` and serializes it in the requested format.
  func respond(to request: Conformance_ConformanceRequest) -> Conformance_ConformanceResponse {
    // The first request asks for the expected failures: there are none.
    if request.messageType == Conformance_FailureSet.protoMessageName {
      return Response.with { $0.protobufPayload = [] }
    }
    let name = usesEditions ? MessageTypes.edition(of: request.messageType) : request.messageType
    if let dynamicTypes, let type = dynamicTypes.type(named: name) {
      return respond(
        to: request,
        read: { () throws(DecodeError) in try dynamicTypes.read(type, from: request) },
        write: { message throws(EncodeError) in try dynamicTypes.write(message, for: request) }
      )
    }
    guard dynamicTypes == nil, let type = MessageTypes.type(named: name) else {
      return Response.with { $0.runtimeError = "no message type is called '\(request.messageType)'" }
    }
    return respond(to: request, as: type)
  }

  private func respond<M: Message>(to request: Conformance_ConformanceRequest, as type: M.Type)
    -> Conformance_ConformanceResponse
  {
    respond(
      to: request,
      read: { () throws(DecodeError) in try read(type, from: request) },
      write: { message throws(EncodeError) in try write(message, for: request) }
    )
  }

  private func respond<M>(
    to request: Conformance_ConformanceRequest,
    read: () throws(DecodeError) -> M?,
    write: (M) throws(EncodeError) -> Conformance_ConformanceResponse
  ) -> Conformance_ConformanceResponse {
    let message: M
    do throws(DecodeError) {
      guard let decoded = try read() else {
        return Response.with { $0.skipped = "this format of the payload is not supported" }
      }
      message = decoded
    } catch {
      return Response.with { $0.parseError = "\(error)" }
    }
    do throws(EncodeError) {
      return try write(message)
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
      let options = request.jsonDecodingOptions(MessageTypes.registry)
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
      let options = request.textEncodingOptions(MessageTypes.registry)
      response.textPayload = message.textFormatString(options: options)
    case .unspecified, .jspb, .UNRECOGNIZED:
      response.skipped = "this format of the output is not supported"
    }
    return response
  }
}
