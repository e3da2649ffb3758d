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
