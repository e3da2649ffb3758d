/// A method with the marshallers of its messages: what generated code makes its calls and handlers from.
@frozen
public struct Method<Requests: Marshaller, Responses: Marshaller>: Sendable {
  public typealias Request = Requests.Message
  public typealias Response = Responses.Message

  public let descriptor: MethodDescriptor
  public let requests: Requests
  public let responses: Responses

  @inlinable
  public init(_ descriptor: MethodDescriptor, requests: Requests, responses: Responses) {
    self.descriptor = descriptor
    self.requests = requests
    self.responses = responses
  }
}
