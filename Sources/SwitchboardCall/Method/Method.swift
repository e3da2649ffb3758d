/// A method with the marshallers of its messages: what generated code makes its calls and handlers from.
@frozen
public struct Method<Requests: Marshaller, Responses: Marshaller>: Sendable {
  /// What the client sends.
  public typealias Request = Requests.Message
  /// What the server sends.
  public typealias Response = Responses.Message

  /// The path and the shape.
  public let descriptor: MethodDescriptor
  /// How requests become bytes.
  public let requests: Requests
  /// How responses become bytes.
  public let responses: Responses

  /// Binds a method to its marshallers.
  @inlinable
  public init(_ descriptor: MethodDescriptor, requests: Requests, responses: Responses) {
    self.descriptor = descriptor
    self.requests = requests
    self.responses = responses
  }
}
