// unsafe: bodies that a session lends until its connection has processed them

import SwitchboardCall

/// Converts between gRPC and the wire format of another protocol, for one call, or for many if it stores nothing about a
/// call. Used only on its connection's loop.
///
/// The request: `requestForm` says how the body becomes messages.
///
/// The response is sent in one of two ways. If `answer` returns a body, the whole response is sent when the call ends,
/// so its headers may depend on the status. Otherwise it is sent piece by piece: `writeHead`, each message by `encode`,
/// and the result of `end`. An exchange that always sends the whole response has `waitsForEnd`.
package protocol DialectExchange: AnyObject {
  // MARK: The request

  /// How the request's body becomes messages. Read once, after the head.
  var requestForm: DialectRequestForm { get }

  // MARK: The response

  /// Whether nothing is sent before the call has ended.
  var waitsForEnd: Bool { get }

  /// Answers a call for which nothing was sent yet: writes `:status` and the headers, including the metadata, and
  /// returns the body. `nil` sends the response piece by piece; headers that were written are then ignored. The message
  /// is the response, if the call succeeded with one.
  func answer(_ message: MessageBuffer?, _ ending: borrowing DialectEnding, into headers: HeaderWriter)
    -> DialectBody?

  /// Writes `:status` and the headers of a response that is sent piece by piece.
  func writeHead(_ metadata: HPACKHeaders?, _ compression: MessageCompression, into headers: HeaderWriter)

  /// Whether messages are sent with gRPC's prefix of five bytes.
  var sendsFrames: Bool { get }

  /// Encodes the messages of a response that is sent piece by piece; `nil` sends them as they are. Read once, before the
  /// headers.
  var responseEncoder: (any DialectEncoder)? { get }

  /// Whether the response body is in Base64.
  var isBase64: Bool { get }

  /// The last bytes of a response that is sent piece by piece. `nil` aborts the response, so that it does not look
  /// complete.
  func end(_ ending: borrowing DialectEnding) -> [UInt8]?
}

extension DialectExchange {
  /// A frame in gRPC's form: a flag, four bytes of length, and the content.
  package static func frame(_ flag: UInt8, _ content: [UInt8]) -> [UInt8] {
    let length = UInt32(clamping: content.count)
    return [flag] + (0..<4).map { UInt8(truncatingIfNeeded: length >> (24 - 8 * $0)) } + content
  }
}

/// Converts the body of a request to gRPC's frames, piece by piece.
package protocol DialectFraming: AnyObject {
  /// Converts the beginning of a piece of the body to frames: a byte 0, four bytes of length, the message. Frames may be
  /// split anywhere. Removes the converted bytes from `piece`: at least some, but only enough for a few frames or
  /// kilobytes, because the result may have to wait for its reader. Throws if what the client has sent of a message is above
  /// the limit and has bytes added to it.
  func frames(from piece: inout UnsafeRawBufferPointer, _ limit: MessageLimit) throws(GRPCStatus) -> [UInt8]

  /// The frames that are completed by the end of the body.
  func framesAtEnd(_ limit: MessageLimit) throws(GRPCStatus) -> [UInt8]

  /// How many bytes are kept of a message that is not whole.
  var gatheredByteCount: Int { get }

  /// The most bytes that a message has beside those that the client has sent: they do not count towards its limit.
  var addedByteCount: Int { get }
}

/// Encodes the messages of a response.
package protocol DialectEncoder: AnyObject {
  /// Receives the first message, if there is one before the headers, which may depend on it. `encode` receives it too.
  func willSend(_ first: MessageBuffer)

  /// Encodes a message, before it is compressed and framed.
  func encode(_ message: MessageBuffer) -> MessageBuffer
}

/// The form of a request's body.
package enum DialectRequestForm {
  /// gRPC's frames.
  case frames
  /// The message consists of these bytes, which may be none, and the whole body, compressed as the settings say.
  case message(after: [UInt8])
  /// The head contains the message, which may be compressed as the settings say. The body is ignored.
  case given(MessageBuffer)
  /// Pieces that are converted to frames.
  case converted(any DialectFraming)
}

/// The body of a response that is sent as a whole.
package enum DialectBody {
  /// Headers only.
  case none
  /// The message's bytes, without a prefix.
  case message(MessageBuffer)
}

/// How a call ended.
package struct DialectEnding: ~Copyable {
  /// The status; `nil` if the call succeeded without a message.
  let failure: GRPCStatus?
  /// The handler's initial metadata, if the headers were not sent yet.
  package let metadata: HPACKHeaders?
  package let trailers: HPACKHeaders?
  /// The compression that the handler asked for, if the client accepts it.
  package let compression: MessageCompression

  package var status: GRPCStatus { failure ?? .ok }

  /// Whether the call succeeded.
  package var isOk: Bool { failure?.isOk ?? true }

  /// Compresses a body as the handler asked, if that makes it smaller. Returns `true` if the caller must announce the
  /// compression.
  package func compress(_ body: inout MessageBuffer) -> Bool {
    guard compression != .none, body.mayCompress else { return false }
    body = Compressor.compress(body, compression)
    return body.isCompressed
  }
}
