/// The typed work at the ends of a server's chain, as closures specialised for the method's types; methods of a generic
/// class would not be. Made once for each method.
@usableFromInline
final class ServerCodec<Request: Sendable, Response: Sendable>: Sendable {
  @usableFromInline typealias Pipeline = ServerPipeline<Request, Response>
  /// Starts the handler of a call.
  @usableFromInline typealias Handler = @Sendable () -> Void
  @usableFromInline typealias MakeHandler = @Sendable (Pipeline, Request) -> Handler

  @usableFromInline let method: MethodDescriptor
  @usableFromInline let encode: @Sendable (Response) throws -> MessageBuffer
  @usableFromInline let message: @Sendable (Pipeline, RawSpan) -> Void
  @usableFromInline let end: @Sendable (Pipeline) -> Void
  /// Makes the handler of a call's one request; `nil` if requests stream.
  @usableFromInline let makeHandler: MakeHandler?

  @inlinable @inline(__always)
  init<RequestMarshaller: Marshaller, ResponseMarshaller: Marshaller>(
    _ method: Method<RequestMarshaller, ResponseMarshaller>,
    makeHandler: MakeHandler? = nil
  ) where RequestMarshaller.Message == Request, ResponseMarshaller.Message == Response {
    let (requests, responses) = (method.requests, method.responses)
    self.method = method.descriptor
    encode = { response throws in try responses.encode(response) }
    message = { pipeline, bytes in
      do {
        pipeline.receiveFirst(.message(try requests.decode(bytes)))
      } catch {
        pipeline.failToDecode(error)
      }
    }
    end = { pipeline in pipeline.receiveFirst(.end) }
    self.makeHandler = makeHandler
  }
}
