// unsafe: copies the bytes that the transport lends for one call

import Switchboard
import SwitchboardProtobuf
import SwitchboardTransport

/// One REST call.
final class RESTExchange: DialectExchange, DialectFraming, DialectEncoder {
  private let assembly: RequestAssembly
  private let server: RESTDialect
  private let answersEvents: Bool
  /// The request message, if the path and the query contain all of it.
  var given: MessageBuffer?
  private var values: JSONValues
  /// How many messages of a stream of requests were read.
  private var messages = 0
  /// The content type of a response that is a stream of bytes.
  private var streamType = ""
  /// Why a response could not be written.
  private var failure: GRPCStatus?

  init(
    _ assembly: RequestAssembly,
    of server: RESTDialect,
    answersEvents: Bool
  ) {
    self.assembly = assembly
    self.server = server
    self.answersEvents = answersEvents
    values = JSONValues(limit: server.valueLimit)
  }

  private var route: RESTRoute { assembly.route }

  // MARK: The request

  var requestForm: DialectRequestForm {
    if let given { return .given(given) }
    return route.streamsRequests ? .converted(self) : .message(assembly)
  }

  /// In a stream of bytes, each piece is a message; in a stream of JSON, each value is one. Only the first message has
  /// the values from the path and the query, which may be thousands of times as long as a JSON value.
  func frames(from piece: inout UnsafeRawBufferPointer) throws(GRPCStatus) -> [UInt8] {
    var frames: [UInt8] = []
    if case .raw = route.requestBody {
      if !piece.isEmpty { try append(Array(piece), to: &frames) }
      piece = UnsafeRawBufferPointer(start: nil, count: 0)
      return frames
    }
    while !piece.isEmpty, frames.count < Self.step {
      let (value, count) = try values.next(in: piece)
      piece = UnsafeRawBufferPointer(rebasing: piece[count...])
      if let value { try append(value, to: &frames) }
    }
    return frames
  }

  /// How many bytes of frames are produced at a time, approximately.
  private static let step = 4 * 1024

  func framesAtEnd() throws(GRPCStatus) -> [UInt8] {
    var frames: [UInt8] = []
    if case .raw = route.requestBody {
      // An empty file is a message too.
      if messages == 0 { try append([], to: &frames) }
    } else if let value = try values.end() {
      try append(value, to: &frames)
    }
    return frames
  }

  private func append(_ part: [UInt8], to frames: inout [UInt8]) throws(GRPCStatus) {
    messages += 1
    frames.appendFrame(try assembly.piece(part, contentType: assembly.contentType, number: messages))
  }

  // MARK: The response

  var waitsForEnd: Bool { !route.streamsResponses }

  func answer(_ message: MessageBuffer?, _ ending: borrowing DialectEnding, into headers: HeaderWriter)
    -> DialectBody?
  {
    guard ending.isOk else { return fail(ending.status, ending, into: headers) }
    guard !route.streamsResponses else { return nil }
    let content: ResponseContent
    do throws(GRPCStatus) {
      guard let message else {
        throw GRPCStatus(code: .internalError, message: "the method returned no response", origin: .library)
      }
      content = try self.content(of: message)
    } catch {
      return fail(error, ending, into: headers)
    }
    headers.add(":status", "200")
    if let type = content.contentType {
      headers.addContentType(type)
    } else {
      headers.add("content-type", "application/json")
    }
    return finish(content.bytes, ending, into: headers)
  }

  private func content(of message: MessageBuffer) throws(GRPCStatus) -> ResponseContent {
    do {
      return try ResponseContent(message.bytes, of: route, options: server.encoding)
    } catch {
      throw server.statusOfEncoding(error, route.grpcPath)
    }
  }

  private func fail(_ status: GRPCStatus, _ ending: borrowing DialectEnding, into headers: HeaderWriter)
    -> DialectBody
  {
    headers.add(":status", String(ErrorContent.httpStatus(status.code)).utf8)
    headers.add("content-type", "application/json")
    return finish(ErrorContent.json(status, server.encoding), ending, into: headers)
  }

  private func finish(_ bytes: [UInt8], _ ending: borrowing DialectEnding, into headers: HeaderWriter)
    -> DialectBody
  {
    if route.mayBeCached { headers.add("vary", "accept-encoding") }
    if let metadata = ending.metadata { headers.add(metadata) }
    if let trailers = ending.trailers { headers.add(trailers, prefix: "trailer-") }
    var body = MessageBuffer(bytes)
    if ending.compress(&body) { headers.add("content-encoding", ending.compression.rawValue.utf8) }
    return .message(body)
  }

  /// In a stream of bytes, the first message has the content type.
  func willSend(_ first: MessageBuffer) {
    guard case .raw = route.responseBody else { return }
    streamType = (try? ResponseContent(first.bytes, of: route, options: server.encoding))?.contentType ?? ""
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
    guard failure == nil else { return MessageBuffer([]) }
    do throws(GRPCStatus) {
      let content = try content(of: message)
      return MessageBuffer(content.contentType == nil ? line(content.bytes, "") : content.bytes)
    } catch {
      failure = error
      return MessageBuffer([])
    }
  }

  /// An error after the first message is sent as the last line. A stream of bytes cannot contain an error and is cut
  /// off.
  func end(_ ending: borrowing DialectEnding) -> [UInt8]? {
    let status = failure ?? ending.status
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

/// Converts the body of a call into its only request.
extension RequestAssembly: DialectConversion {
  func message(from body: UnsafeRawBufferPointer) throws(GRPCStatus) -> MessageBuffer {
    MessageBuffer(try message(body: Array(body), contentType: contentType))
  }
}

extension MessageBuffer {
  fileprivate var bytes: [UInt8] { withBytes { $0.withUnsafeBytes { Array($0) } } }
}

extension HeaderWriter {
  /// Adds a content type. One that is not a valid header value is replaced by `application/octet-stream`.
  fileprivate func addContentType(_ type: String) {
    let isAllowed = !type.isEmpty && type.utf8.allSatisfy { $0 >= 0x20 && $0 < 0x7F }
    add("content-type", (isAllowed ? type : "application/octet-stream").utf8)
  }
}

extension [UInt8] {
  /// Appends a message with gRPC's prefix.
  fileprivate mutating func appendFrame(_ message: [UInt8]) {
    append(0)
    let length = UInt32(clamping: message.count)
    for shift in [24, 16, 8, 0] as [UInt32] { append(UInt8(truncatingIfNeeded: length >> shift)) }
    append(contentsOf: message)
  }
}
