// unsafe: bodies that a session lends until its connection has processed them

import SwitchboardCall
import SwitchboardNetwork

/// Converts between gRPC and the wire format of another protocol, for one attempt of a call on the client. Used only on
/// its connection's loop. gRPC's own calls have none.
protocol ClientDialect: AnyObject {
  typealias Bytes = UnsafeBufferPointer<UInt8>

  // MARK: The request

  /// Writes the headers of the request, after the pseudo headers; `timeout` is the time that is left.
  func writeHeaders(_ request: CallRequest, timeout: GRPCTimeout?, into headers: HeaderWriter)

  /// The form of the request's body.
  var requestBody: ClientRequestBody { get }

  // MARK: The response

  /// Processes a header of the response. Returns `false` if it belongs to the protocol and is not metadata.
  func takeHeader(_ name: Bytes, _ value: Bytes) -> Bool

  /// Called after the last header. Returns a failure if the response does not conform to the protocol.
  func headersDidEnd(httpStatus: Int) -> GRPCStatus?

  /// The form of the response's body.
  var responseBody: ClientResponseBody { get }

  /// The compression of messages; `nil` if it is unknown to this side.
  var encoding: MessageCompression? { get }

  /// The status of the call. `body` is the error or the last frame, depending on `responseBody`; `nil` if there was
  /// none.
  func end(_ body: [UInt8]?) -> GRPCStatus

  /// The metadata in the trailers and in the headers, after `end`.
  var trailers: HPACKHeaders { get }
  var metadata: HPACKHeaders { get }

  /// Whether the metadata is reported immediately. Otherwise it may turn out to be the trailers.
  var hasMetadata: Bool { get }
}

/// The form of a request's body.
enum ClientRequestBody {
  /// Messages in gRPC's frames.
  case frames
  /// The only message, without a prefix.
  case message
  /// No body: the path contains the message.
  case none
}

/// The form of a response's body.
enum ClientResponseBody {
  /// gRPC's frames, followed by one with this flag that contains the status.
  case frames(endFlag: UInt8)
  /// The only message, without a prefix.
  case message
  /// The status.
  case error
}

/// The state of a call in another protocol, including a response body that is collected as a whole.
final class ClientDialectState {
  let exchange: any ClientDialect
  private(set) var collected: [UInt8] = []
  /// Whether the body was delivered to its reader.
  var isDelivered = false

  private var drainTimer: LoopTimer?

  /// How long a server may take from the status to the end of the body.
  private static let drainTime = Duration.seconds(1)

  init(_ exchange: any ClientDialect) { self.exchange = exchange }

  func collect(_ bytes: UnsafeRawBufferPointer) { collected += bytes }

  /// Waits for the end of a body after its last frame. Calls `giveUp` if it does not arrive soon.
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
