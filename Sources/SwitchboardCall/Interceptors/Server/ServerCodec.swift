/// Encoding and decoding at the ends of a server's chain, in closures that are specialised for the method's types,
/// unlike the methods of a generic class. Created once for each method.
@usableFromInline
final class ServerCodec<Request: Sendable, Response: Sendable>: Sendable {
  @usableFromInline typealias Pipeline = ServerPipeline<Request, Response>
  @usableFromInline let method: MethodDescriptor
  @usableFromInline let ends: ServerEnds<Request, Response>
  @usableFromInline let message: @Sendable (Pipeline, RawSpan) -> Void
  /// Decodes messages that pass the chain later.
  @usableFromInline let decoder: StreamDecoder<Request>
  @usableFromInline let end: @Sendable (Pipeline) -> Void

  @inlinable @inline(__always)
  init<RequestMarshaller: Marshaller, ResponseMarshaller: Marshaller>(
    _ method: Method<RequestMarshaller, ResponseMarshaller>,
    startHandler: @escaping ServerEnds<Request, Response>.Start = { _, _ in }
  ) where RequestMarshaller.Message == Request, ResponseMarshaller.Message == Response {
    let (requests, responses) = (method.requests, method.responses)
    self.method = method.descriptor
    let send: ServerEnds<Request, Response>.Send = { pipeline, response, metadata, promise in
      do {
        pipeline.send(try responses.encode(copy response), metadata, promise)
      } catch {
        pipeline.failToEncode(error, promise)
      }
    }
    ends = ServerEnds(send: send, start: startHandler)
    message = { pipeline, bytes in pipeline.receiveMessage { () throws in try requests.decode(bytes) } }
    decoder = StreamDecoder {
      try requests.decode($0)
    } onLoop: {
      requests.decodesOnLoop($0)
    }
    end = { pipeline in pipeline.receiveFirst(.end) }
  }
}

/// Takes a call's part to one of the chain's ends. Not copyable, because a closure is copied, which counts a reference,
/// wherever it is called from a field of an object.
@frozen
@usableFromInline
struct ServerEnds<Request: Sendable, Response: Sendable>: ~Copyable, Sendable {
  @usableFromInline typealias Pipeline = ServerPipeline<Request, Response>
  @usableFromInline typealias Send =
    @Sendable (Pipeline, borrowing Response, MessageMetadata, EventLoopPromise<Void>?) -> Void
  @usableFromInline typealias Start = @Sendable (Pipeline, consuming Request) -> Void

  /// Encodes a response for the transport.
  @usableFromInline let send: Send
  /// Starts the handler with a call's one request; does nothing if requests stream.
  @usableFromInline let start: Start

  @inlinable
  init(send: @escaping Send, start: @escaping Start) {
    self.send = send
    self.start = start
  }

  @inlinable @inline(__always)
  func send(
    _ response: borrowing Response,
    _ metadata: MessageMetadata,
    _ promise: EventLoopPromise<Void>?,
    of pipeline: Pipeline
  ) {
    send(pipeline, response, metadata, promise)
  }

  @inlinable @inline(__always)
  func startHandler(of pipeline: Pipeline, with request: consuming Request) { start(pipeline, request) }
}
