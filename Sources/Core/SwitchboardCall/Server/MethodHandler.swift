// unsafe: the bytes of a request, which a transport lends until the handler suspends

/// Serves one method: decodes the requests of a call and runs the user's handler.
///
/// Create one with `Method.unaryHandler`, or with its counterparts for methods that stream.
public final class MethodHandler: Sendable {
  /// The method it serves.
  package let method: MethodDescriptor
  let formats: HandlerFormats
  let factories: [any ServerInterceptorFactory]
  // Closures are specialized for the method's types; methods of a generic class would not be.
  private let bind: @Sendable ([any ServerInterceptorFactory]) -> Service
  private let begin: Begin
  /// Serves a call with one request in the task of the caller. A transport calls it for one call after the other.
  package let serve: Serve
  private let chain: Chain
  /// See `decodingAhead`.
  private let ahead: (@Sendable () -> Ahead)?

  /// Begins a call. The bytes are its one request; they are empty if the method streams requests.
  @usableFromInline typealias Begin = @Sendable (any ServerStream, RawSpan) -> Void
  /// Serves one call. The bytes are its request, which is valid until the handler suspends. The last parameter is what
  /// served the call before, which may have been of another method.
  @usableFromInline package typealias Serve =
    nonisolated(nonsending) @Sendable (consuming any ServerStream, UnsafeRawBufferPointer, inout LastChain)
    async -> Void
  /// Makes the interceptors of one call, to see which they are.
  @usableFromInline typealias Chain = @Sendable () -> [AnyObject]
  @usableFromInline typealias Service = (begin: Begin, serve: Serve, chain: Chain)
  @usableFromInline typealias Interceptors<Request: Sendable, Response: Sendable> =
    @Sendable () -> [ServerInterceptor<Request, Response>]

  /// A handler of one call, and what decodes its request before the handler asks for it.
  package typealias Ahead = (handler: MethodHandler, decode: @Sendable (RawSpan) -> Void)

  @usableFromInline
  convenience init(
    _ method: MethodDescriptor,
    _ formats: HandlerFormats,
    bind: @escaping @Sendable ([any ServerInterceptorFactory]) -> Service
  ) {
    self.init(method, formats, [], bind, nil)
  }

  private init(
    _ method: MethodDescriptor,
    _ formats: HandlerFormats,
    _ factories: [any ServerInterceptorFactory],
    _ bind: @escaping @Sendable ([any ServerInterceptorFactory]) -> Service,
    _ ahead: (@Sendable () -> Ahead)?
  ) {
    self.method = method
    self.formats = formats
    self.factories = factories
    self.bind = bind
    self.ahead = ahead
    (begin, serve, chain) = bind(factories)
  }

  // MARK: The two ways to take requests

  @inlinable
  convenience init<RequestMarshaller: Marshaller, ResponseMarshaller: Marshaller, Form: HandlerForm>(
    one method: Method<RequestMarshaller, ResponseMarshaller>,
    _ interceptors: Interceptors<Form.Request, Form.Response>?,
    _ form: Form
  )
  where
    Form.Input == Form.Request, Form.Request == RequestMarshaller.Message,
    Form.Response == ResponseMarshaller.Message
  {
    let formats = HandlerFormats(method, Form.streamsResponses ? .serverStreaming : .unary) {
      Self.oneInFormat($0, interceptors, form, $1)
    }
    self.init(method.descriptor, formats) { factories in
      let interceptors = factories.wrapping(interceptors, for: method.descriptor)
      let (requests, responses) = (method.requests, method.responses)
      let codec = ServerCodec(method) { (chain, request: consuming RequestMarshaller.Message) in
        Self.startTask(form, responses, consume request, .chain(chain))
      }
      // A failure ends the call.
      @Sendable func decode(_ message: RawSpan, _ stream: any ServerStream) throws(GRPCStatus)
        -> RequestMarshaller.Message
      {
        // A reference to the method would be allocated.
        try GRPCStatus.decoding(failed: { stream.finish($0) }) { try requests.decode(message) }
      }
      let begin: Begin = { stream, message in
        if let interceptors = interceptors?(), !interceptors.isEmpty {
          return ServerChain(stream, interceptors, codec).receive(message, requests)
        }
        guard let request = try? decode(message, stream) else { return }
        Self.startTask(form, responses, consume request, .stream(stream))
      }
      let serve: Serve = {
        (stream: consuming any ServerStream, message: UnsafeRawBufferPointer, last: inout LastChain) in
        if let interceptors = interceptors?(), !interceptors.isEmpty {
          let chain = ServerChain.next(after: &last, consume stream, interceptors, codec)
          // Its handler has a task of its own, which inherits what an interceptor binds.
          chain.receive(message.bytes, requests)
          chain.link.with { $0.handlerReturned() }
          last.put(consume chain)
          return
        }
        // No optional, whose type code for formats chosen at run time would look up in each call.
        let request: RequestMarshaller.Message
        do throws(GRPCStatus) { request = try decode(message.bytes, stream) } catch {
          return stream.handlerReturned()
        }
        last = LastChain()
        await Self.run(form, responses, request, .stream(consume stream))
      }
      return (begin, serve, { interceptors?() ?? [] })
    }
  }

  @inlinable
  convenience init<RequestMarshaller: Marshaller, ResponseMarshaller: Marshaller, Form: HandlerForm>(
    stream method: Method<RequestMarshaller, ResponseMarshaller>,
    _ interceptors: Interceptors<Form.Request, Form.Response>?,
    _ form: Form
  )
  where
    Form.Input == RequestStream<Form.Request>, Form.Request == RequestMarshaller.Message,
    Form.Response == ResponseMarshaller.Message
  {
    let formats = HandlerFormats(method, Form.streamsResponses ? .bidirectionalStreaming : .clientStreaming) {
      Self.streamInFormat($0, interceptors, form, $1)
    }
    self.init(method.descriptor, formats) { factories in
      let interceptors = factories.wrapping(interceptors, for: method.descriptor)
      let (requests, responses) = (method.requests, method.responses)
      let codec = ServerCodec(method)
      let begin: Begin = { stream, _ in
        if let interceptors = interceptors?(), !interceptors.isEmpty {
          let chain = ServerChain(stream, interceptors, codec)
          return chain.onRequestStream { messages in
            Self.startTask(form, responses, messages, .chain(chain))
          }
        }
        let decoder = StreamDecoder { bytes in
          // A failure ends the call, whatever the handler does.
          try GRPCStatus.decoding(failed: stream.finish) { try requests.decode(bytes) }
        } onLoop: {
          requests.decodesOnLoop($0)
        }
        Self.startTask(form, responses, RequestStream(stream.requests, decoder), .stream(stream))
      }
      // Only calls with one request are served so.
      return (begin, { _, _, _ in }, { interceptors?() ?? [] })
    }
  }

  /// Starts the task of a call's handler, where its transport says. Called on the loop.
  @inlinable
  static func startTask<Form: HandlerForm>(
    _ form: Form,
    _ responses: some Marshaller<Form.Response>,
    _ input: consuming Form.Input,
    _ answer: CallAnswer<Form.Request, Form.Response>
  ) {
    // The task is created here and not by the transport, which would need a closure: that would cost each call two more
    // asynchronous frames. The input moves into the task: a capture without a list would copy it.
    let task = makeTask(on: answer.withStream { $0.executorForHandler() }) { [input = consume input] in
      await runInTask(form, responses, input, answer)
    }
    answer.withStream { $0.handlerRuns(task) }
  }

  /// Not inlinable, generic over the result, and with an operation that may throw, because the runtime takes that type
  /// of operation. The compiler would wrap any other, which costs each call an allocation and two frames.
  @usableFromInline
  static func makeTask<Result: Sendable>(
    on executor: HandlerExecutor,
    _ operation: @escaping @isolated(any) @Sendable () async throws -> Result
  ) -> Task<Result, any Error> {
    switch executor {
    case .loop(let loop): Task.immediate(executorPreference: loop, operation: operation)
    case .executor(let executor): Task(executorPreference: executor, operation: operation)
    }
  }

  /// Never inlined: as a part of the task's closure, it would hop to the executor on which it already runs.
  @inlinable @inline(never)
  nonisolated(nonsending) static func runInTask<Form: HandlerForm>(
    _ form: Form,
    _ responses: some Marshaller<Form.Response>,
    _ input: Form.Input,
    _ answer: CallAnswer<Form.Request, Form.Response>
  ) async {
    await run(form, responses, input, answer)
  }

  /// Runs the handler of one call. An error that it throws becomes the status of the call.
  @inlinable @inline(__always)
  nonisolated(nonsending) static func run<Form: HandlerForm>(
    _ form: Form,
    _ responses: some Marshaller<Form.Response>,
    _ input: Form.Input,
    _ answer: CallAnswer<Form.Request, Form.Response>
  ) async {
    do {
      if let context = answer.withStream({ $0.taskContext }) {
        try await handle(form, responses, input, answer, in: context)
      } else {
        try await form.handle(input, answer, responses)
      }
    } catch {
      answer.finish(answer.withStream { $0.status(of: error) })
    }
    answer.withStream { $0.handlerReturned() }
  }

  /// Never inlined, so that a method has this code once.
  @inlinable @inline(never)
  nonisolated(nonsending) static func handle<Form: HandlerForm>(
    _ form: Form,
    _ responses: some Marshaller<Form.Response>,
    _ input: Form.Input,
    _ answer: CallAnswer<Form.Request, Form.Response>,
    in context: any ContextSource
  ) async throws {
    try await TaskContext.with(context) { try await form.handle(input, answer, responses) }
  }

  // MARK: Other formats
  // Not inlinable, so that users' modules hold no copies of the code for formats chosen at run time.

  @usableFromInline
  static func oneInFormat<Form: HandlerForm>(
    _ method: Method<AnyMarshaller<Form.Request>, AnyMarshaller<Form.Response>>,
    _ interceptors: Interceptors<Form.Request, Form.Response>?,
    _ form: Form,
    _ watch: (any StageWatch)?
  ) -> MethodHandler where Form.Input == Form.Request {
    guard let watch else { return decodingAhead(method) { MethodHandler(one: $0, interceptors, form) } }
    let (probed, watched) = (StageProbes.around(interceptors, watch), WatchedForm(form, watch))
    return decodingAhead(method.watched(by: watch)) { MethodHandler(one: $0, probed, watched) }
  }

  @usableFromInline
  static func streamInFormat<Form: HandlerForm>(
    _ method: Method<AnyMarshaller<Form.Request>, AnyMarshaller<Form.Response>>,
    _ interceptors: Interceptors<Form.Request, Form.Response>?,
    _ form: Form,
    _ watch: (any StageWatch)?
  ) -> MethodHandler where Form.Input == RequestStream<Form.Request> {
    guard let watch else { return MethodHandler(stream: method, interceptors, form) }
    let (probed, watched) = (StageProbes.around(interceptors, watch), WatchedForm(form, watch))
    return MethodHandler(stream: method.watched(by: watch), probed, watched)
  }

  private static func decodingAhead<Request: Sendable, Response: Sendable>(
    _ method: Method<AnyMarshaller<Request>, AnyMarshaller<Response>>,
    _ make: @escaping @Sendable (Method<AnyMarshaller<Request>, AnyMarshaller<Response>>) -> MethodHandler
  ) -> MethodHandler {
    let handler = make(method)
    return MethodHandler(handler.method, handler.formats, [], handler.bind) {
      let ahead = DecodedAhead(method.requests)
      let requests = AnyMarshaller(ahead, as: method.requests.contentSubtype)
      let handler = make(Method(method.descriptor, requests: requests, responses: method.responses))
      return (handler, { ahead.decodeAhead($0) })
    }
  }

  // MARK: For servers

  /// Throws if it was made for methods of another type: with streams where the method has none, or the other way round.
  package func checkType() throws(GRPCStatus) {
    guard formats.type != method.type else { return }
    throw GRPCStatus(
      code: .invalidArgument,
      message: """
        \(method.path) is a \(method.type) method, but has a handler for \(formats.type) methods: make it with \
        \(method.type)Handler
        """
    )
  }

  /// The same handler, with the interceptors of `factories` before its own. Called once, when a server is created.
  package func intercepted(by factories: [any ServerInterceptorFactory]) -> MethodHandler {
    factories.isEmpty ? self : MethodHandler(method, formats, factories, bind, ahead)
  }

  /// The interceptors of a call. Makes them as for a call.
  func makeInterceptors() -> [AnyObject] { chain() }

  /// Starts a call whose one request is complete. The bytes are valid only until this method returns.
  package func start(_ stream: any ServerStream, message: RawSpan) { begin(stream, message) }

  /// The handler for one call with this large request, which may be decoded on any thread before the handler receives it. The
  /// request is released on another thread, if the handler is kept until the call is over. `nil` if a loop may decode it, or
  /// if requests stream: their reader has each large one decoded elsewhere.
  package func decodingAhead(_ request: RawSpan) -> Ahead? {
    guard !formats.decodesOnLoop(request) else { return nil }
    return (ahead ?? formats.makeOwn().ahead).map { ahead in
      let (handler, decode) = ahead()
      return (handler.intercepted(by: factories), decode)
    }
  }

  /// Starts a call that streams its requests.
  package func start(_ stream: any ServerStream) { begin(stream, RawSpan()) }

  /// The names of the formats of requests and responses that are not protobuf.
  package var foreignFormats: (requests: String?, responses: String?) { formats.foreign }

  /// Whether the handler decodes messages with this content subtype.
  package func reads(_ subtype: ContentSubtype) -> Bool { formats.reads(subtype) }

  /// The same method in another format; `nil` if the format lacks marshallers for its messages.
  package func inFormat(_ format: any PayloadFormat) -> MethodHandler? {
    formats.handler(format)?.intercepted(by: factories)
  }

  /// The same method in the form of another protocol.
  package func inFormat(_ format: any MethodFormat) -> MethodHandler {
    formats.over(format).intercepted(by: factories)
  }
}

/// Where the handler of a call sends its answer.
@frozen
@usableFromInline
enum CallAnswer<Request: Sendable, Response: Sendable>: Sendable {
  /// Straight to the transport.
  case stream(any ServerStream)
  /// Through a chain of interceptors.
  case chain(ServerChain<Request, Response>)

  @inlinable
  var context: ServerCallContext {
    switch self {
    case .stream(let stream): ServerCallContext(stream)
    case .chain(let chain): ServerCallContext(chain)
    }
  }

  /// Sends the one response, which ends the call.
  @inlinable
  func respond(_ response: consuming Response, _ marshaller: some Marshaller<Response>) throws {
    switch self {
    case .stream(let stream):
      let response = response
      stream.respond(try GRPCStatus.encoding(for: stream) { try marshaller.encode(response) })
    case .chain(let chain): ServerChain.respond(response, by: chain)
    }
  }

  /// Returns the writer of a stream of responses, which `finish` ends.
  @inlinable
  func writer(_ marshaller: some Marshaller<Response>) -> ResponseStreamWriter<Response> {
    switch self {
    case .stream(let stream):
      ResponseStreamWriter(stream) { response in
        try GRPCStatus.encoding(for: stream) { try marshaller.encode(response) }
      }
    case .chain(let chain): ResponseStreamWriter(chain.makeWriter())
    }
  }

  /// Uses the call at the transport without counting a reference to it.
  @inlinable @inline(__always)
  func withStream<Result>(_ use: (any ServerStream) -> Result) -> Result {
    switch self {
    case .stream(let stream): use(stream)
    case .chain(let chain): chain.link.with(use)
    }
  }

  @inlinable
  func finish(_ status: GRPCStatus) {
    switch self {
    case .stream(let stream): stream.finish(status)
    case .chain(let chain): chain.finish(status)
    }
  }
}
