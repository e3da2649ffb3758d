/// The formats of a handler's messages, as closures, because only the handler's `init` knows the message types.
@usableFromInline
struct HandlerFormats: Sendable {
  private let readsOwn: @Sendable (ContentSubtype) -> Bool
  private let make: @Sendable (any PayloadFormat) -> MethodHandler?
  /// See `Marshaller.decodesOnLoop`.
  let decodesOnLoop: @Sendable (RawSpan) -> Bool
  /// The same handler, with marshallers that are chosen at run time.
  let makeOwn: @Sendable () -> MethodHandler

  /// `method` has the handler's own marshallers; `make` creates the same handler with other marshallers.
  @usableFromInline
  init<RequestMarshaller: Marshaller, ResponseMarshaller: Marshaller>(
    _ method: Method<RequestMarshaller, ResponseMarshaller>,
    _ make: @escaping @Sendable (Method<RequestMarshaller, ResponseMarshaller>.InFormat) -> MethodHandler
  ) {
    readsOwn = { method.requests.reads($0) && method.responses.reads($0) }
    decodesOnLoop = { method.requests.decodesOnLoop($0) }
    makeOwn = {
      let (requests, responses) = (AnyMarshaller(method.requests), AnyMarshaller(method.responses))
      return make(Method(method.descriptor, requests: requests, responses: responses))
    }
    self.make = { format in
      guard let requests = format.named(for: RequestMarshaller.Message.self),
        let responses = format.named(for: ResponseMarshaller.Message.self)
      else { return nil }
      return make(Method(method.descriptor, requests: requests, responses: responses))
    }
  }

  func reads(_ subtype: ContentSubtype) -> Bool { readsOwn(subtype) }

  func handler(in format: any PayloadFormat) -> MethodHandler? { make(format) }
}
