/// Encoding and decoding at the ends of a client's chain, in closures that are specialized for the call's types, unlike
/// the methods of a generic class.
///
/// The closures take the chain as a parameter and capture only marshallers. If these have no fields, like
/// protobuf's, the closures need no allocation per call.
@usableFromInline
struct ClientCodec<Request: Sendable, Response: Sendable> {
  @usableFromInline typealias Chain = ClientChain<Request, Response>

  @usableFromInline let encode: (borrowing Request) throws -> MessageBuffer
  @usableFromInline let headers: (Chain, consuming HPACKHeaders) -> Void
  @usableFromInline let message: (Chain, RawSpan) -> Void
  /// What decodes messages that pass the chain later.
  @usableFromInline let decoder: (Chain) -> StreamDecoder<Response>
  @usableFromInline let end: (Chain, consuming GRPCStatus, consuming HPACKHeaders) -> Void
  /// Switches to the format that the call's options now choose.
  @usableFromInline let chooseFormat: (Chain) -> Void

  @inlinable @inline(__always)
  init<RequestMarshaller: Marshaller, ResponseMarshaller: Marshaller>(
    _ requests: RequestMarshaller,
    _ responses: ResponseMarshaller
  ) where RequestMarshaller.Message == Request, ResponseMarshaller.Message == Response {
    encode = { request throws in try requests.encode(copy request) }
    headers = { (chain, headers: consuming HPACKHeaders) in
      chain.receiveFirst(.metadata(headers))
    }
    message = { chain, bytes in
      do {
        chain.receiveFirst(.message(try chain.chosen?.decode(bytes) ?? responses.decode(bytes)))
      } catch {
        chain.failToDecode(error)
      }
    }
    decoder = { chain in
      let chosen = chain.chosen
      return StreamDecoder {
        try chosen?.decode($0) ?? responses.decode($0)
      } onLoop: {
        chosen?.decodesOnLoop($0) ?? responses.decodesOnLoop($0)
      }
    }
    end = { (chain, status: consuming GRPCStatus, trailers: consuming HPACKHeaders) in
      chain.receiveFirst(.end(consume status, consume trailers))
    }
    chooseFormat = { chain in
      let chosen = chain.optionsWithFormat.map {
        ChosenFormat(Method(chain.method, requests: requests, responses: responses), $0)
      }
      chain.chosen = chosen
      chain.contentSubtype = chosen?.contentSubtype ?? ContentSubtype.of(requests, responses)
    }
  }
}
