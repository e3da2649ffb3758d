import EchoService
import Switchboard

/// Records the parts that pass on the client.
final class ClientRecorder: EchoClientInterceptor {
  let name: String
  let log: Log

  init(_ name: String, _ log: Log) {
    self.name = name
    self.log = log
  }

  override func send(
    _ part: GRPCClientRequestPart<Echo_EchoRequest>,
    promise: EventLoopPromise<Void>?,
    context: EchoClientContext
  ) {
    switch part {
    case .metadata: log.note("\(name) > metadata")
    case .message(let message, _): log.note("\(name) > \(message.text)")
    case .end: log.note("\(name) > end")
    }
    context.send(part, promise: promise)
  }

  override func receive(_ part: GRPCClientResponsePart<Echo_EchoResponse>, context: EchoClientContext) {
    switch part {
    case .metadata: log.note("\(name) < metadata")
    case .message(let message): log.note("\(name) < \(message.text)")
    case .end(let status, _): log.note("\(name) < \(status.code)")
    }
    context.receive(part)
  }

  override func errorCaught(_ error: any Error, context: EchoClientContext) {
    log.note("\(name) < error \(GRPCStatus(describing: error).code)")
    context.errorCaught(error)
  }

  override func cancel(promise: EventLoopPromise<Void>?, context: EchoClientContext) {
    log.note("\(name) > cancel")
    context.cancel(promise: promise)
  }
}

/// Records the parts that pass on the server.
final class ServerRecorder: EchoServerInterceptor {
  let name: String
  let log: Log

  init(_ name: String, _ log: Log) {
    self.name = name
    self.log = log
  }

  override func receive(_ part: GRPCServerRequestPart<Echo_EchoRequest>, context: EchoServerContext) {
    switch part {
    case .metadata: log.note("\(name) > metadata")
    case .message(let message): log.note("\(name) > \(message.text)")
    case .end: log.note("\(name) > end")
    }
    context.receive(part)
  }

  override func send(
    _ part: GRPCServerResponsePart<Echo_EchoResponse>,
    promise: EventLoopPromise<Void>?,
    context: EchoServerContext
  ) {
    switch part {
    case .metadata: log.note("\(name) < metadata")
    case .message(let message, _): log.note("\(name) < \(message.text)")
    case .end(let status, _): log.note("\(name) < \(status.code)")
    }
    context.send(part, promise: promise)
  }

  override func errorCaught(_ error: any Error, context: EchoServerContext) {
    log.note("\(name) > error \(GRPCStatus(describing: error).code)")
    context.errorCaught(error)
  }
}

/// Interceptors made of closures.
final class ClientHook: EchoClientInterceptor {
  typealias Send = (GRPCClientRequestPart<Echo_EchoRequest>, EventLoopPromise<Void>?, EchoClientContext) ->
    Void
  typealias Receive = (GRPCClientResponsePart<Echo_EchoResponse>, EchoClientContext) -> Void

  private let onSend: Send?
  private let onReceive: Receive?

  init(send: Send? = nil, receive: Receive? = nil) {
    onSend = send
    onReceive = receive
  }

  override func send(
    _ part: GRPCClientRequestPart<Echo_EchoRequest>,
    promise: EventLoopPromise<Void>?,
    context: EchoClientContext
  ) {
    if let onSend { onSend(part, promise, context) } else { context.send(part, promise: promise) }
  }

  override func receive(_ part: GRPCClientResponsePart<Echo_EchoResponse>, context: EchoClientContext) {
    if let onReceive { onReceive(part, context) } else { context.receive(part) }
  }
}

final class ServerHook: EchoServerInterceptor {
  typealias Send = (GRPCServerResponsePart<Echo_EchoResponse>, EventLoopPromise<Void>?, EchoServerContext) ->
    Void
  typealias Receive = (GRPCServerRequestPart<Echo_EchoRequest>, EchoServerContext) -> Void

  private let onSend: Send?
  private let onReceive: Receive?

  init(send: Send? = nil, receive: Receive? = nil) {
    onSend = send
    onReceive = receive
  }

  override func send(
    _ part: GRPCServerResponsePart<Echo_EchoResponse>,
    promise: EventLoopPromise<Void>?,
    context: EchoServerContext
  ) {
    if let onSend { onSend(part, promise, context) } else { context.send(part, promise: promise) }
  }

  override func receive(_ part: GRPCServerRequestPart<Echo_EchoRequest>, context: EchoServerContext) {
    if let onReceive { onReceive(part, context) } else { context.receive(part) }
  }
}
