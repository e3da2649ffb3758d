// unsafe: copies the bytes that the transport lends for one call

import Switchboard
import SwitchboardTransport

/// One REST call.
final class RESTExchange: DialectExchange, DialectFraming, DialectEncoder {
  private let route: RESTRoute
  /// What the request's message has before the body.
  private let head: [UInt8]
  /// The message of a request without a body.
  private let whole: MessageBuffer?
  private let server: RESTDialect
  private let answersEvents: Bool
  private var values: JSONValues
  /// How many messages of a stream of requests were read.
  private var messages = 0
  /// The beginning of a body that the rule does not take.
  private var unwanted: [UInt8] = []
  /// The content type of a response that is a stream of bytes.
  private var streamType = ""

  init(
    _ route: RESTRoute,
    _ head: [UInt8],
    of server: RESTDialect,
    answersEvents: Bool,
    hasNoBody: Bool
  ) {
    self.route = route
    self.head = head
    self.server = server
    self.answersEvents = answersEvents
    whole = if hasNoBody, case .none = route.requestBody { MessageBuffer(head) } else { nil }
    values = JSONValues(limit: server.valueLimit)
  }

  // MARK: The request

  var requestForm: DialectRequestForm {
    if let whole { return .given(whole) }
    return route.streamsRequests ? .converted(self) : .message(after: head)
  }

  /// In a stream of bytes, each piece is a message; in a stream of JSON, each value is one. Only the first message has
  /// the values from the path and the query, which may be thousands of times as long as a JSON value.
  func frames(from piece: inout UnsafeRawBufferPointer, _ limit: MessageLimit) throws(GRPCStatus) -> [UInt8] {
    var frames: [UInt8] = []
    if case .raw = route.requestBody {
      // How much arrives together is nothing that the client decides.
      let count = min(piece.count, limit.byteCount)
      if count > 0 { append(Array(piece.prefix(count)), to: &frames) }
      piece = UnsafeRawBufferPointer(rebasing: piece[count...])
      return frames
    }
    if case .none = route.requestBody {
      // The format refuses it, if it says anything.
      unwanted += RequestParts.content(of: piece).prefix(RequestParts.nothing.count + 1 - unwanted.count)
      piece = UnsafeRawBufferPointer(start: nil, count: 0)
      return frames
    }
    while !piece.isEmpty, frames.count < Self.step {
      let (value, count) = try values.next(in: piece)
      piece = UnsafeRawBufferPointer(rebasing: piece[count...])
      if let value { try append(value, limit, to: &frames) }
    }
    return frames
  }

  /// The first message has the most.
  var addedByteCount: Int { head.count }

  var gatheredByteCount: Int { values.gatheredByteCount }

  /// How many bytes of frames are produced at a time, approximately.
  private static let step = 4 * 1024

  func framesAtEnd(_ limit: MessageLimit) throws(GRPCStatus) -> [UInt8] {
    var frames: [UInt8] = []
    switch route.requestBody {
    case .raw:
      // An empty file is a message too.
      if messages == 0 { append([], to: &frames) }
    case .none: append(unwanted, to: &frames)
    case .json: if let value = try values.end() { try append(value, limit, to: &frames) }
    }
    return frames
  }

  private func append(_ value: [UInt8], _ limit: MessageLimit, to frames: inout [UInt8]) throws(GRPCStatus) {
    guard value.count <= limit.byteCount else { throw limit.exceeded(by: value.count) }
    append(value, to: &frames)
  }

  private func append(_ part: [UInt8], to frames: inout [UInt8]) {
    messages += 1
    let head = messages == 1 ? head : RequestParts.head(ofMessage: messages)
    frames += Self.frame(0, head + part)
  }

  // MARK: The response

  var waitsForEnd: Bool { !route.streamsResponses }

  func answer(_ message: MessageBuffer?, _ ending: borrowing DialectEnding, into headers: HeaderWriter)
    -> DialectBody?
  {
    guard ending.isOk else { return fail(ending.status, ending, into: headers) }
    guard !route.streamsResponses else { return nil }
    guard let message else {
      let missing = GRPCStatus(
        code: .internalError,
        message: "the method returned no response",
        origin: .library
      )
      return fail(missing, ending, into: headers)
    }
    headers.add(":status", "200")
    if case .raw = route.responseBody {
      let content = ResponseContent(message)
      headers.addContentType(content.contentType)
      return finish(MessageBuffer(content.bytes), ending, into: headers)
    }
    headers.add("content-type", "application/json")
    return finish(message, ending, into: headers)
  }

  private func fail(_ status: GRPCStatus, _ ending: borrowing DialectEnding, into headers: HeaderWriter)
    -> DialectBody
  {
    headers.add(":status", String(ErrorContent.httpStatus(status.code)).utf8)
    headers.add("content-type", "application/json")
    return finish(MessageBuffer(ErrorContent.json(status, server.encoding)), ending, into: headers)
  }

  private func finish(
    _ body: consuming MessageBuffer,
    _ ending: borrowing DialectEnding,
    into headers: HeaderWriter
  )
    -> DialectBody
  {
    if route.mayBeCached { headers.add("vary", "accept-encoding") }
    if let metadata = ending.metadata { headers.add(metadata) }
    if let trailers = ending.trailers { headers.add(trailers, prefix: "trailer-") }
    if ending.compress(&body) { headers.add("content-encoding", ending.compression.rawValue.utf8) }
    return .message(body)
  }

  /// In a stream of bytes, the first message has the content type.
  func willSend(_ first: MessageBuffer) {
    guard case .raw = route.responseBody else { return }
    streamType = ResponseContent(first).contentType
  }

  func writeHead(_ metadata: HPACKHeaders?, _ compression: MessageCompression, into headers: HeaderWriter) {
    headers.add(":status", "200")
    if case .raw = route.responseBody {
      headers.addContentType(streamType)
    } else {
      headers.addContentType(answersEvents ? "text/event-stream" : "application/x-ndjson")
      if route.mayBeCached { headers.add("vary", "accept") }
      if answersEvents { headers.add("cache-control", "no-cache") }
    }
    if let metadata { headers.add(metadata) }
  }

  var sendsFrames: Bool { false }
  var responseEncoder: (any DialectEncoder)? { self }
  var isBase64: Bool { false }

  func encode(_ message: MessageBuffer) -> MessageBuffer {
    if case .raw = route.responseBody { return MessageBuffer(ResponseContent(message).bytes) }
    return MessageBuffer(line(message.withBytes { BytesMarshaller().decode($0) }, ""))
  }

  /// An error after the first message is sent as the last line. A stream of bytes cannot contain an error and is cut
  /// off.
  func end(_ ending: borrowing DialectEnding) -> [UInt8]? {
    let status = ending.status
    if status.isOk { return [] }
    if case .raw = route.responseBody { return nil }
    let error = ErrorContent.json(status, server.encoding)
    return line(
      answersEvents ? error : Array("{\"error\":".utf8) + error + [UInt8(ascii: "}")],
      "event: error\n"
    )
  }

  /// A line of JSON or a server-sent event.
  private func line(_ json: [UInt8], _ event: String) -> [UInt8] {
    answersEvents
      ? Array(event.utf8) + Array("data: ".utf8) + json + Array("\n\n".utf8) : json + [UInt8(ascii: "\n")]
  }
}

extension HeaderWriter {
  /// Adds a content type. One that is not a valid header value is replaced by `application/octet-stream`.
  fileprivate func addContentType(_ type: String) {
    let isAllowed = !type.isEmpty && type.utf8.allSatisfy { $0 >= 0x20 && $0 < 0x7F }
    add("content-type", (isAllowed ? type : "application/octet-stream").utf8)
  }
}
