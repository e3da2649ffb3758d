import SwitchboardCall

/// The difference between one call's bytes and gRPC's. An object for each call, used on its connection's loop only; or one
/// for many, if it keeps nothing of a call.
///
/// The request: `requestForm` says how the body becomes messages.
///
/// The response takes one of two ways. If `answer` returns a body, the response is sent at once when the call ends:
/// its headers may depend on the status. If not, it is sent as it is made: `writeHead`, each message by `encode`, and
/// what `end` returns. An exchange that always answers at once has `waitsForEnd`.
package protocol WireExchange: AnyObject {
  // MARK: The request

  /// How the request's body becomes messages. Read once, after the head.
  var requestForm: WireRequestForm { get }

  /// What turns the whole body of a request in the form `.message` into the message; `nil` if it is one as it is. Read
  /// once.
  var requestConversion: (any WireConversion)? { get }

  /// Turns the beginning of a piece of a body in the form `.converted` into gRPC's frames: a byte 0, four bytes of
  /// length, the message. Frames may be split anywhere. It removes what it used from `piece`: some of it, and no more than
  /// makes a few frames or kilobytes, because what it makes may have to wait for its reader.
  func frames(from piece: inout UnsafeRawBufferPointer) throws(GRPCStatus) -> [UInt8]

  /// The frames that the end of such a body completes.
  func framesAtEnd() throws(GRPCStatus) -> [UInt8]

  // MARK: The response

  /// Whether nothing is sent before the call has ended.
  var waitsForEnd: Bool { get }

  /// Answers a call of which nothing was sent yet: writes `:status` and the headers, among them the metadata, and returns
  /// the body; `nil` sends the response as it is made. Headers that were written are ignored then.
  func answer(_ ending: WireEnding, into headers: HeaderWriter) -> WireBody?

  /// Shows the first message of a response that is sent as it is made, if there is one before the headers: they may
  /// depend on it. `encode` gets it, too.
  func willSend(_ first: MessageBuffer)

  /// Writes `:status` and the headers of a response that is sent as it is made.
  func writeHead(_ metadata: HPACKHeaders?, _ compression: MessageCompression, into headers: HeaderWriter)

  /// Whether messages are sent with gRPC's prefix of five bytes.
  var sendsFrames: Bool { get }

  /// Turns a response message into what is sent for it, before it is compressed and framed.
  func encode(_ message: MessageBuffer) -> MessageBuffer

  /// Whether everything that is sent is in Base64.
  var isBase64: Bool { get }

  /// The last bytes of a response that is sent as it is made; `nil` breaks it off, so that it cannot be taken for whole.
  func end(_ ending: WireEnding) -> [UInt8]?
}

/// Turns the whole body of a request into its message: on the call's loop if the body is small, and on another thread if
/// it is large, so that the loop's other calls need not wait.
package protocol WireConversion: Sendable {
  /// The message of a body, whose bytes are decompressed already. An error ends the call with this status.
  func message(from body: UnsafeRawBufferPointer) throws(GRPCStatus) -> MessageBuffer
}

/// How a request's body becomes messages.
package enum WireRequestForm: Sendable {
  /// It is gRPC's frames.
  case frames
  /// It is one message, compressed as the settings say; no body is an empty message.
  case message
  /// The head has the message, which may be compressed as the settings say. A body is ignored.
  case given(MessageBuffer)
  /// The exchange makes frames from each piece.
  case converted
}

/// The body of a response that is sent at once.
package enum WireBody {
  /// No body: only the headers.
  case none
  /// The message's bytes, without a prefix.
  case message(MessageBuffer)
}

/// How a call ended.
package struct WireEnding {
  /// The one response, if the call succeeded with one and nothing was sent before.
  package let message: MessageBuffer?
  package let status: GRPCStatus
  /// The metadata that the handler wants sent with the headers, if they were not sent.
  package let metadata: HPACKHeaders?
  package let trailers: HPACKHeaders?
  /// What the handler wants the response compressed with, if the client takes it.
  package let compression: MessageCompression

  /// Compresses a body as the handler wants it, if that makes it smaller. `true` if the caller has to say so.
  package func compress(_ body: inout MessageBuffer) -> Bool {
    guard compression != .none, body.mayCompress else { return false }
    body = Compressor.compress(body, compression)
    return body.isCompressed
  }
}

/// Exchanges whose messages are gRPC's own.
extension WireExchange {
  package var requestConversion: (any WireConversion)? { nil }
  package func frames(from piece: inout UnsafeRawBufferPointer) throws(GRPCStatus) -> [UInt8] {
    piece = UnsafeRawBufferPointer(start: nil, count: 0)
    return []
  }
  package func framesAtEnd() throws(GRPCStatus) -> [UInt8] { [] }
  package func willSend(_ first: MessageBuffer) {}
  package func encode(_ message: MessageBuffer) -> MessageBuffer { message }
  package var isBase64: Bool { false }
}
