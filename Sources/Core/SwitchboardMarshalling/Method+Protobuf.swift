import SwitchboardCall
import SwitchboardProtobuf

/// A method with protobuf messages.
public typealias ProtobufMethod<Request: SwitchboardProtobuf.Message, Response: SwitchboardProtobuf.Message> =
  Method<ProtobufMarshaller<Request>, ProtobufMarshaller<Response>>

extension Method {
  /// Describes a method. Generated code has one such constant for each.
  public init<Request, Response>(
    _ service: String,
    _ method: String,
    _ type: GRPCCallType,
    idempotency: MethodIdempotency = .unknown
  )
  where RequestMarshaller == ProtobufMarshaller<Request>, ResponseMarshaller == ProtobufMarshaller<Response> {
    self.init(
      MethodDescriptor(service: service, method: method, type: type, idempotency: idempotency),
      requests: ProtobufMarshaller(),
      responses: ProtobufMarshaller()
    )
  }
}
