/// What the ends of a server's chain do, compiled for the types of the call: methods of a generic class would not be.
///
/// They are closures that are handed the pipeline and refer to marshallers alone; where these have no fields, as
/// protobuf's, they cost a call no allocation.
@usableFromInline
struct ServerEnds<Request: Sendable, Response: Sendable> {
  @usableFromInline typealias Pipeline = ServerPipeline<Request, Response>

  @usableFromInline let encode: (Response) throws -> MessageBuffer
  @usableFromInline let message: (Pipeline, RawSpan) -> Void
  @usableFromInline let end: (Pipeline) -> Void

  @inlinable @inline(__always)
  init<Requests: Marshaller, Responses: Marshaller>(
    _ requests: Requests,
    _ responses: Responses
  ) where Requests.Message == Request, Responses.Message == Response {
    encode = { response throws in try responses.encode(response) }
    message = { pipeline, bytes in
      do {
        pipeline.receiveOnLoop(.message(try requests.decode(bytes)), at: 0)
      } catch {
        pipeline.fail(.marshalling(error, "decoded"))
      }
    }
    end = { pipeline in pipeline.receiveOnLoop(.end, at: 0) }
  }
}
