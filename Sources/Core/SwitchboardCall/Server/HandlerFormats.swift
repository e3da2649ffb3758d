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
  /// The same handler, which tells of the stages of its calls.
  let watched: @Sendable (any StageWatch) -> MethodHandler

  /// `method` has the handler's own marshallers; `make` creates the same handler with other marshallers, and with what watches
  /// its calls.
  @usableFromInline
  init<RequestMarshaller: Marshaller, ResponseMarshaller: Marshaller>(
    _ method: Method<RequestMarshaller, ResponseMarshaller>,
    _ type: GRPCCallType,
    _ make:
      @escaping @Sendable (Method<RequestMarshaller, ResponseMarshaller>.InFormat, (any StageWatch)?) ->
      MethodHandler
  ) {
    self.type = type
    foreign = (method.requests.foreignName, method.responses.foreignName)
    reads = { method.requests.reads($0) && method.responses.reads($0) }
    decodesOnLoop = { method.requests.decodesOnLoop($0) }
    let inOwnFormat = { @Sendable (watch: (any StageWatch)?) in
      let (requests, responses) = (AnyMarshaller(method.requests), AnyMarshaller(method.responses))
      return make(Method(method.descriptor, requests: requests, responses: responses), watch)
    }
    makeOwn = { inOwnFormat(nil) }
    watched = { inOwnFormat($0) }
    over = { format in
      let requests = AnyMarshaller(format.requests(over: method.requests))
      let responses = AnyMarshaller(format.responses(over: method.responses))
      return make(Method(method.descriptor, requests: requests, responses: responses), nil)
    }
    handler = { format in
      guard let requests = format.named(for: RequestMarshaller.Message.self),
        let responses = format.named(for: ResponseMarshaller.Message.self)
      else { return nil }
      return make(Method(method.descriptor, requests: requests, responses: responses), nil)
    }
  }
}
