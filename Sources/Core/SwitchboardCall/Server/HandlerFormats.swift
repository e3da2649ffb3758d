/// What only a handler's `init` knows: the type of the methods that it is for, and the formats of its messages, as closures
/// because of their types.
@usableFromInline
struct HandlerFormats: Sendable {
  let type: GRPCCallType
  let reads: @Sendable (ContentSubtype) -> Bool
  let handler: @Sendable (any PayloadFormat) -> MethodHandler?
  let over: @Sendable (any MethodFormat) -> MethodHandler
  let foreign: (requests: String?, responses: String?)
  /// See `Marshaller.decodesOnLoop`.
  let decodesOnLoop: @Sendable (RawSpan) -> Bool
  /// The same handler, with marshallers that are chosen at run time.
  let makeOwn: @Sendable () -> MethodHandler

  /// `method` has the handler's own marshallers; `make` creates the same handler with other marshallers.
  @usableFromInline
  init<RequestMarshaller: Marshaller, ResponseMarshaller: Marshaller>(
    _ method: Method<RequestMarshaller, ResponseMarshaller>,
    _ type: GRPCCallType,
    _ make: @escaping @Sendable (Method<RequestMarshaller, ResponseMarshaller>.InFormat) -> MethodHandler
  ) {
    self.type = type
    foreign = (method.requests.foreignName, method.responses.foreignName)
    reads = { method.requests.reads($0) && method.responses.reads($0) }
    decodesOnLoop = { method.requests.decodesOnLoop($0) }
    makeOwn = {
      let (requests, responses) = (AnyMarshaller(method.requests), AnyMarshaller(method.responses))
      return make(Method(method.descriptor, requests: requests, responses: responses))
    }
    over = { format in
      let requests = AnyMarshaller(format.requests(over: method.requests))
      let responses = AnyMarshaller(format.responses(over: method.responses))
      return make(Method(method.descriptor, requests: requests, responses: responses))
    }
    handler = { format in
      guard let requests = format.named(for: RequestMarshaller.Message.self),
        let responses = format.named(for: ResponseMarshaller.Message.self)
      else { return nil }
      return make(Method(method.descriptor, requests: requests, responses: responses))
    }
  }
}
