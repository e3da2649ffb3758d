import Switchboard

/// A factory for every method. Its interceptors record their name when they see a call's metadata.
struct NamingFactory: InterceptorFactory {
  let name: String
  let log: Log

  func makeClientInterceptors<Request: Sendable, Response: Sendable>(
    for method: MethodDescriptor
  ) -> [ClientInterceptor<Request, Response>] { [NamingClientInterceptor(name, log)] }

  func makeServerInterceptors<Request: Sendable, Response: Sendable>(
    for method: MethodDescriptor
  ) -> [ServerInterceptor<Request, Response>] { [NamingServerInterceptor(name, log)] }
}

final class NamingClientInterceptor<Request: Sendable, Response: Sendable>:
  ClientInterceptor<Request, Response>
{
  private let name: String
  private let log: Log

  init(_ name: String, _ log: Log) {
    self.name = name
    self.log = log
    super.init()
  }

  override func send(
    _ part: GRPCClientRequestPart<Request>,
    promise: EventLoopPromise<Void>?,
    context: ClientInterceptorContext<Request, Response>
  ) {
    if case .metadata = part { log.note("> \(name) \(context.method.method)") }
    context.send(part, promise: promise)
  }

  override func receive(
    _ part: GRPCClientResponsePart<Response>,
    context: ClientInterceptorContext<Request, Response>
  ) {
    if case .end = part { log.note("< \(name) \(context.method.method)") }
    context.receive(part)
  }
}

final class NamingServerInterceptor<Request: Sendable, Response: Sendable>:
  ServerInterceptor<Request, Response>
{
  private let name: String
  private let log: Log

  init(_ name: String, _ log: Log) {
    self.name = name
    self.log = log
    super.init()
  }

  override func receive(
    _ part: GRPCServerRequestPart<Request>,
    context: ServerInterceptorContext<Request, Response>
  ) {
    if case .metadata = part { log.note("> \(name) \(context.method.method)") }
    context.receive(part)
  }

  override func send(
    _ part: GRPCServerResponsePart<Response>,
    promise: EventLoopPromise<Void>?,
    context: ServerInterceptorContext<Request, Response>
  ) {
    if case .end = part { log.note("< \(name) \(context.method.method)") }
    context.send(part, promise: promise)
  }
}
