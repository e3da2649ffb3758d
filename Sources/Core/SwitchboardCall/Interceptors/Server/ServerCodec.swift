/// Encoding and decoding at the ends of a server's chain, in closures that are specialized for the method's types,
/// unlike the methods of a generic class. Created once for each method.
@usableFromInline
final class ServerCodec<Request: Sendable, Response: Sendable>: Sendable {
  @usableFromInline typealias Chain = ServerChain<Request, Response>
  @usableFromInline let method: MethodDescriptor
  @usableFromInline let ends: ServerEnds<Request, Response>
  @usableFromInline let message: @Sendable (Chain, RawSpan) -> Void
  /// Decodes messages that pass the chain later.
  @usableFromInline let decoder: StreamDecoder<Request>
  @usableFromInline let end: @Sendable (Chain) -> Void

  @inlinable @inline(__always)
  init<RequestMarshaller: Marshaller, ResponseMarshaller: Marshaller>(
    _ method: Method<RequestMarshaller, ResponseMarshaller>,
    startHandler: @escaping ServerEnds<Request, Response>.Start = { _, _ in }
  ) where RequestMarshaller.Message == Request, ResponseMarshaller.Message == Response {
    let (requests, responses) = (method.requests, method.responses)
    self.method = method.descriptor
    let send: ServerEnds<Request, Response>.Send = { chain, response, metadata, promise in
      do {
        chain.send(try responses.encode(copy response), metadata, promise)
      } catch {
        chain.failToEncode(error, promise)
      }
    }
    ends = ServerEnds(send: send, start: startHandler)
    message = { chain, bytes in chain.receiveMessage { () throws in try requests.decode(bytes) } }
    decoder = StreamDecoder {
      try requests.decode($0)
    } onLoop: {
      requests.decodesOnLoop($0)
    }
    end = { chain in chain.receiveFirst(.end) }
  }
}

/// Takes a call's part to one of the chain's ends. Not copyable, because a closure is copied, which counts a reference,
/// wherever it is called from a field of an object.
@frozen
@usableFromInline
struct ServerEnds<Request: Sendable, Response: Sendable>: ~Copyable, Sendable {
  @usableFromInline typealias Chain = ServerChain<Request, Response>
  @usableFromInline typealias Send =
    @Sendable (Chain, borrowing Response, MessageMetadata, EventLoopPromise<Void>?) -> Void
  @usableFromInline typealias Start = @Sendable (Chain, consuming Request) -> Void

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
    of chain: Chain
  ) {
    send(chain, response, metadata, promise)
  }

  @inlinable @inline(__always)
  func startHandler(of chain: Chain, with request: consuming Request) { start(chain, request) }
}
