import SwitchboardCall

/// The difference between one call's bytes and gRPC's, on the client. An object for each attempt of a call, used on its
/// connection's loop only. gRPC's own calls have none.
protocol ClientExchange: AnyObject {
  typealias Bytes = UnsafeBufferPointer<UInt8>

  // MARK: The request

  /// Writes the headers of the request, after the pseudo headers; `timeout` is the time that is left.
  func writeHeaders(_ request: CallRequest, timeout: GRPCTimeout?, into headers: HeaderWriter)

  /// What the request's body is.
  var requestBody: ClientRequestBody { get }

  // MARK: The response

  /// Takes a header of the response. Returns `false` if it is the protocol's own, and no metadata.
  func takeHeader(_ name: Bytes, _ value: Bytes) -> Bool

  /// Called after the last header. Returns a failure if the response cannot be the protocol's.
  func headersDidEnd(httpStatus: Int) -> GRPCStatus?

  /// How the body becomes messages.
  var responseBody: ClientResponseBody { get }

  /// What messages are compressed with; `nil` if this side does not know it.
  var encoding: MessageCompression? { get }

  /// How the call ended. `body` is what `responseBody` says: the error, or the last frame; `nil` if there was none.
  func end(_ body: [UInt8]?) -> GRPCStatus

  /// The metadata of headers and trailers, after `end`.
  var trailers: HPACKHeaders { get }
  var metadata: HPACKHeaders { get }

  /// Whether the metadata is told at once. Otherwise it may turn out to be that of the trailers.
  var hasMetadata: Bool { get }
}

/// What a call sends as its request's body.
enum ClientRequestBody {
  /// Messages in gRPC's frames.
  case frames
  /// The one message as it is.
  case message
  /// Nothing: the path has the message.
  case none
}

/// What a call receives as its response's body.
enum ClientResponseBody {
  /// gRPC's frames, and a last one with this flag, which has the status.
  case frames(endFlag: UInt8)
  /// The one message as it is.
  case message
  /// The status.
  case error
}

extension CallProtocol {
  /// `nil` for gRPC.
  func makeExchange(_ request: CallRequest, mayGet: Bool) -> (any ClientExchange)? {
    switch self {
    case .grpc: nil
    case .grpcWeb: GRPCWebClientExchange(request)
    case .connect:
      request.method.type == .unary
        ? ConnectUnaryClient(request, mayGet: mayGet) : ConnectStreamClient(request)
    }
  }
}

/// A response's body that is one piece, while it arrives.
final class ClientWire {
  let exchange: any ClientExchange
  private(set) var collected: [UInt8] = []
  /// Whether the body was given to its reader.
  var isDelivered = false

  private var drainTimer: LoopTimer?

  /// How long a server may take from the status to the end of the body.
  private static let drainTime = Duration.seconds(1)

  init(_ exchange: any ClientExchange) { self.exchange = exchange }

  func collect(_ bytes: UnsafeRawBufferPointer) { collected += bytes }

  /// Waits for the end of a body whose last frame has come. `giveUp` is called if it does not come soon.
  func startDraining(on loop: Loop, giveUp: @escaping () -> Void) {
    let timer = LoopTimer { [weak self] in
      self?.drainTimer = nil
      giveUp()
    }
    drainTimer = timer
    loop.schedule(timer, after: Self.drainTime)
  }

  func stopDraining(on loop: Loop) {
    guard let timer = drainTimer else { return }
    drainTimer = nil
    loop.cancel(timer)
  }

  func takeCollected() -> [UInt8] {
    defer { collected = [] }
    return collected
  }
}
