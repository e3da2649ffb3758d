// A handler that serves one call, and tells of its stages. It differs from the handler of all other calls in its marshallers,
// its interceptors and its form, so that the others pay nothing. Not inlinable, so that users' modules hold no copies of it.

extension MethodHandler {
  /// The same handler for one call, of whose stages `watch` learns.
  package func watched(by watch: any StageWatch) -> MethodHandler {
    formats.watched(watch).intercepted(by: StageProbes.around(factories, watch))
  }
}

extension Method {
  /// The same method, whose marshallers tell of what they do.
  func watched<Request: Sendable, Response: Sendable>(by watch: any StageWatch) -> Self
  where RequestMarshaller == AnyMarshaller<Request>, ResponseMarshaller == AnyMarshaller<Response> {
    Method(
      descriptor,
      requests: AnyMarshaller(WatchedMarshaller(base: requests, watch: watch)),
      responses: AnyMarshaller(WatchedMarshaller(base: responses, watch: watch))
    )
  }
}

/// A marshaller that tells when it encodes and decodes.
private struct WatchedMarshaller<Message: Sendable>: Marshaller {
  let base: AnyMarshaller<Message>
  let watch: any StageWatch

  var contentSubtype: ContentSubtype { base.contentSubtype }

  func encode(_ message: Message) throws -> MessageBuffer {
    watch.began(.encode)
    defer { watch.ended(.encode) }
    return try base.encode(message)
  }

  func decode(_ bytes: RawSpan) throws -> Message {
    watch.began(.decode)
    defer { watch.ended(.decode) }
    return try base.decode(bytes)
  }

  func decodesQuickly(_ bytes: RawSpan) -> Bool { base.decodesQuickly(bytes) }
}

/// A form that tells when the handler runs.
struct WatchedForm<Form: HandlerForm>: HandlerForm {
  typealias Input = Form.Input
  typealias Request = Form.Request
  typealias Response = Form.Response

  private let form: Form
  private let watch: any StageWatch

  init(_ form: Form, _ watch: any StageWatch) {
    self.form = form
    self.watch = watch
  }

  static var streamsResponses: Bool { Form.streamsResponses }

  nonisolated(nonsending) func handle(
    _ input: Input,
    _ answer: CallAnswer<Request, Response>,
    _ responses: some Marshaller<Response>
  ) async throws {
    watch.began(.handler)
    defer { watch.ended(.handler) }
    try await form.handle(input, answer, responses)
  }
}

// MARK: - Interceptors

/// Puts a probe before each interceptor and after the last.
struct StageProbes: ServerInterceptorFactory {
  /// The factory whose interceptors have probes before them; `nil`: there is only a probe.
  private let factory: (any ServerInterceptorFactory)?
  private let watch: any StageWatch

  static func around(_ factories: [any ServerInterceptorFactory], _ watch: any StageWatch)
    -> [any ServerInterceptorFactory]
  {
    guard !factories.isEmpty else { return [] }
    return factories.map { StageProbes(factory: $0, watch: watch) } + [
      StageProbes(factory: nil, watch: watch)
    ]
  }

  /// A method's own interceptors, with probes.
  static func around<Request: Sendable, Response: Sendable>(
    _ make: (@Sendable () -> [ServerInterceptor<Request, Response>])?,
    _ watch: any StageWatch
  ) -> (@Sendable () -> [ServerInterceptor<Request, Response>])? {
    guard let make else { return nil }
    return {
      let own: [ServerInterceptor<Request, Response>] = make()
      return own.isEmpty ? [] : probed(own, watch) + [StageProbe(watch)]
    }
  }

  func makeServerInterceptors<Request: Sendable, Response: Sendable>(
    for method: MethodDescriptor
  ) -> [ServerInterceptor<Request, Response>] {
    guard let factory else { return [StageProbe(watch)] }
    return Self.probed(factory.makeServerInterceptors(for: method), watch)
  }

  private static func probed<Request: Sendable, Response: Sendable>(
    _ interceptors: [ServerInterceptor<Request, Response>],
    _ watch: any StageWatch
  ) -> [ServerInterceptor<Request, Response>] {
    interceptors.flatMap { [StageProbe(watch), $0] }
  }
}

/// An interceptor that passes on every part, and tells that its neighbors have one, or have one no more.
private final class StageProbe<Request: Sendable, Response: Sendable>:
  ServerInterceptor<Request, Response>, PassingInterceptor
{
  private let watch: any StageWatch
  /// Whether other interceptors are before it and after it. `nil` until the first part.
  private var neighbors: (before: Bool, after: Bool)?

  init(_ watch: any StageWatch) { self.watch = watch }

  private func look(from context: ServerInterceptorContext<Request, Response>) -> (before: Bool, after: Bool)
  {
    if let neighbors { return neighbors }
    let (all, index) = (context.interceptors, context.index)
    func isOther(_ place: Int) -> Bool { all.indices.contains(place) && !(all[place] is StageProbe) }
    let found = (before: isOther(index - 1), after: isOther(index + 1))
    neighbors = found
    if found.after { watch.found(all[index + 1], at: index + 1) }
    return found
  }

  override func receive(
    _ part: GRPCServerRequestPart<Request>,
    context: ServerInterceptorContext<Request, Response>
  ) {
    let neighbors = look(from: context)
    if neighbors.before { watch.ended(.receive(context.index - 1)) }
    if neighbors.after { watch.began(.receive(context.index + 1)) }
    context.receive(part)
  }

  override func send(
    _ part: GRPCServerResponsePart<Response>,
    promise: EventLoopPromise<Void>?,
    context: ServerInterceptorContext<Request, Response>
  ) {
    let neighbors = look(from: context)
    // With one response, the handler has returned it. Interceptors may have answered instead.
    if !context.type.streamsResponses { watch.ended(.handler) }
    if neighbors.after { watch.ended(.send(context.index + 1)) }
    if neighbors.before { watch.began(.send(context.index - 1)) }
    if context.index == 0, case .end = part { watch.answered() }
    context.send(part, promise: promise)
  }
}
