/// Encoding and decoding at the ends of a client's chain, in closures that are specialised for the call's types, unlike
/// the methods of a generic class.
///
/// The closures take the pipeline as a parameter and capture only marshallers. If these have no fields, like
/// protobuf's, the closures need no allocation per call.
@usableFromInline
struct ClientCodec<Request: Sendable, Response: Sendable> {
  @usableFromInline typealias Pipeline = ClientPipeline<Request, Response>

  @usableFromInline let encode: (borrowing Request) throws -> MessageBuffer
  @usableFromInline let headers: (Pipeline, consuming HPACKHeaders) -> Void
  @usableFromInline let message: (Pipeline, RawSpan) -> Void
  /// What decodes messages that pass the chain later.
  @usableFromInline let decoder: (Pipeline) -> StreamDecoder<Response>
  @usableFromInline let end: (Pipeline, consuming GRPCStatus, consuming HPACKHeaders) -> Void
  /// Switches to the format that the call's options now choose.
  @usableFromInline let chooseFormat: (Pipeline) -> Void

  @inlinable @inline(__always)
  init<RequestMarshaller: Marshaller, ResponseMarshaller: Marshaller>(
    _ requests: RequestMarshaller,
    _ responses: ResponseMarshaller
  ) where RequestMarshaller.Message == Request, ResponseMarshaller.Message == Response {
    encode = { request throws in try requests.encode(copy request) }
    headers = { (pipeline, headers: consuming HPACKHeaders) in
      pipeline.receiveFirst(.metadata(headers))
    }
    message = { pipeline, bytes in
      do {
        pipeline.receiveFirst(.message(try pipeline.chosen?.decode(bytes) ?? responses.decode(bytes)))
      } catch {
        pipeline.failToDecode(error)
      }
    }
    decoder = { pipeline in
      let chosen = pipeline.chosen
      return StreamDecoder {
        try chosen?.decode($0) ?? responses.decode($0)
      } onLoop: {
        chosen?.decodesOnLoop($0) ?? responses.decodesOnLoop($0)
      }
    }
    end = { (pipeline, status: consuming GRPCStatus, trailers: consuming HPACKHeaders) in
      pipeline.receiveFirst(.end(consume status, consume trailers))
    }
    chooseFormat = { pipeline in
      let chosen = pipeline.optionsWithFormat.map {
        ChosenFormat(Method(pipeline.method, requests: requests, responses: responses), $0)
      }
      pipeline.chosen = chosen
      pipeline.contentSubtype = chosen?.contentSubtype ?? ContentSubtype.of(requests, responses)
    }
  }
}
