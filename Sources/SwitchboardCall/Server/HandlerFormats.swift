/// What a handler knows of the formats of its messages: closures, since only its `init` knows their types.
@usableFromInline
struct HandlerFormats: Sendable {
  private let readsOwn: @Sendable (ContentSubtype) -> Bool
  private let make: @Sendable (any PayloadFormat) -> (any MethodHandler)?

  /// The handler's own marshallers, and how the same handler is made with others.
  @usableFromInline
  init<Requests: Marshaller, Responses: Marshaller>(
    _ requests: Requests,
    _ responses: Responses,
    _ make:
      @escaping @Sendable (AnyMarshaller<Requests.Message>, AnyMarshaller<Responses.Message>) ->
      any MethodHandler
  ) {
    readsOwn = { requests.reads($0) && responses.reads($0) }
    self.make = { format in
      guard let requests = format.named(for: Requests.Message.self),
        let responses = format.named(for: Responses.Message.self)
      else { return nil }
      return make(requests, responses)
    }
  }

  func reads(_ subtype: ContentSubtype) -> Bool { readsOwn(subtype) }

  func handler(in format: any PayloadFormat) -> (any MethodHandler)? { make(format) }
}
