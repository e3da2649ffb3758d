/// A method with the marshallers of its messages: what generated code makes its calls and handlers from.
@frozen
public struct Method<RequestMarshaller: Marshaller, ResponseMarshaller: Marshaller>: Sendable {
  /// What the client sends.
  public typealias Request = RequestMarshaller.Message
  /// What the server sends.
  public typealias Response = ResponseMarshaller.Message

  /// The path and the shape.
  public let descriptor: MethodDescriptor
  /// How requests become bytes.
  public let requests: RequestMarshaller
  /// How responses become bytes.
  public let responses: ResponseMarshaller

  /// Binds a method to its marshallers.
  @inlinable
  public init(_ descriptor: MethodDescriptor, requests: RequestMarshaller, responses: ResponseMarshaller) {
    self.descriptor = descriptor
    self.requests = requests
    self.responses = responses
  }
}

extension Method {
  /// A method whose marshallers were chosen while the program runs.
  @usableFromInline package typealias InFormat = Method<AnyMarshaller<Request>, AnyMarshaller<Response>>

  /// The same method with its messages in another format. Where the format has no marshaller for them, calls
  /// fail with `INTERNAL`.
  package func inFormat(_ format: any PayloadFormat) -> InFormat {
    InFormat(
      descriptor,
      requests: format.named(for: Request.self) ?? AnyMarshaller(missingFrom: format),
      responses: format.named(for: Response.self) ?? AnyMarshaller(missingFrom: format)
    )
  }

  /// The method in the format that a call's options ask for, or in its own.
  func inFormat(of options: CallOptions) -> InFormat {
    guard let format = options.payloadFormat?.format(for: descriptor) else {
      return InFormat(descriptor, requests: AnyMarshaller(requests), responses: AnyMarshaller(responses))
    }
    return inFormat(format)
  }
}
