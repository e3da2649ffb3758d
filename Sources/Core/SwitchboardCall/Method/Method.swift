/// A method and its marshallers, for making calls and handlers.
///
/// ```swift
/// let find = Method(
///   MethodDescriptor(service: "shop.Stock", method: "Find", type: .unary),
///   requests: TextMarshaller(),
///   responses: CodableJSONMarshaller<Item>()
/// )
/// let item = try await MethodClient(channel: channel).call(find).unary("kettle")
/// ```
@frozen
public struct Method<RequestMarshaller: Marshaller, ResponseMarshaller: Marshaller>: Sendable {
  /// The request message.
  public typealias Request = RequestMarshaller.Message
  /// The response message.
  public typealias Response = ResponseMarshaller.Message

  /// The path and the type.
  public let descriptor: MethodDescriptor
  /// The marshaller of requests.
  @usableFromInline package let requests: RequestMarshaller
  /// The marshaller of responses.
  @usableFromInline package let responses: ResponseMarshaller

  /// Binds a method to its marshallers.
  @inlinable
  public init(_ descriptor: MethodDescriptor, requests: RequestMarshaller, responses: ResponseMarshaller) {
    self.descriptor = descriptor
    self.requests = requests
    self.responses = responses
  }
}

extension Method {
  /// A method whose marshallers are chosen at run time.
  @usableFromInline package typealias InFormat = Method<AnyMarshaller<Request>, AnyMarshaller<Response>>

  /// The same method in another format. Calls fail with `INTERNAL` if it has no marshaller for the messages.
  package func inFormat(_ format: any PayloadFormat) -> InFormat {
    InFormat(
      descriptor,
      requests: format.named(for: Request.self) ?? AnyMarshaller(missingFrom: format),
      responses: format.named(for: Response.self) ?? AnyMarshaller(missingFrom: format)
    )
  }
}
