/// Encoding and decoding at the ends of a server's chain, in closures that are specialised for the method's types,
/// unlike the methods of a generic class. Created once for each method.
@usableFromInline
final class ServerCodec<Request: Sendable, Response: Sendable>: Sendable {
  @usableFromInline typealias Pipeline = ServerPipeline<Request, Response>
  @usableFromInline typealias StartHandler = @Sendable (Pipeline, consuming Request) -> Void

  @usableFromInline let method: MethodDescriptor
  @usableFromInline let send: @Sendable (Pipeline, Response, MessageMetadata, EventLoopPromise<Void>?) -> Void
  @usableFromInline let message: @Sendable (Pipeline, RawSpan) -> Void
  @usableFromInline let end: @Sendable (Pipeline) -> Void
  /// Starts the handler with a call's one request; does nothing if requests stream. It is not optional, because testing
  /// a closure copies it.
  @usableFromInline let startHandler: StartHandler

  @inlinable @inline(__always)
  init<RequestMarshaller: Marshaller, ResponseMarshaller: Marshaller>(
    _ method: Method<RequestMarshaller, ResponseMarshaller>,
    startHandler: @escaping StartHandler = { _, _ in }
  ) where RequestMarshaller.Message == Request, ResponseMarshaller.Message == Response {
    let (requests, responses) = (method.requests, method.responses)
    self.method = method.descriptor
    send = { pipeline, response, metadata, promise in
      do {
        pipeline.send(try responses.encode(response), metadata, promise)
      } catch {
        pipeline.failToEncode(error, promise)
      }
    }
    message = { pipeline, bytes in pipeline.receiveMessage { () throws in try requests.decode(bytes) } }
    end = { pipeline in pipeline.receiveFirst(.end) }
    self.startHandler = startHandler
  }
}
