// unsafe: bytes that a stream or a session lends for one call

import SwitchboardCall
import SwitchboardText

/// A call by gRPC-Web: gRPC's headers and frames, and the trailers in the last frame.
final class GRPCWebClient: ClientDialect {
  private let subtype: ContentSubtype
  private var isGRPCWeb = false
  private var hasOtherFormat = false
  private var head = ResponseHead(listSizeLimit: .max)
  private(set) var metadata = HPACKHeaders()
  private(set) var trailers = HPACKHeaders()
  private var hasStatus = false

  /// The flag of the frame with the trailers.
  static let endFlag: UInt8 = 0x80

  init(_ request: CallRequest) { subtype = request.contentSubtype }

  func writeHeaders(_ request: CallRequest, timeout: GRPCTimeout?, into headers: HeaderWriter) {
    headers.add("content-type", WebFormat.binary.contentType(subtype).utf8)
    headers.add("x-grpc-web", "1")
    headers.add("grpc-accept-encoding", AcceptedCompressions.offered)
    if let timeout { headers.add("grpc-timeout", timeout.encoded) }
    if let options = request.options, options.compression != .none {
      headers.add("grpc-encoding", options.compression.rawValue.utf8)
    }
  }

  var requestBody: ClientRequestBody { .frames }

  func takeHeader(_ name: Bytes, _ value: Bytes) -> Bool {
    if name.equals("content-type") {
      isGRPCWeb = WebFormat(contentType: value) == .binary
      hasOtherFormat = isGRPCWeb && !value.contentSubtype.isUnnamed && !isSame(value.contentSubtype)
      return false
    }
    _ = head.add(name, value)
    if name.equals("grpc-status") { hasStatus = true }
    if name.first == UInt8(ascii: ":") || Self.isOwn(name) { return false }
    metadata.append(name: name, value: value)
    return true
  }

  private func isSame(_ other: ContentSubtype) -> Bool {
    other == (subtype.isUnnamed ? .proto : subtype)
  }

  private static func isOwn(_ name: Bytes) -> Bool {
    name.equals("grpc-status") || name.equals("grpc-message") || name.equals("grpc-encoding")
      || name.equals("grpc-accept-encoding") || name.equals("grpc-status-details-bin")
      || name.equals("content-length")
  }

  func headersDidEnd(httpStatus: Int) -> GRPCStatus? {
    guard httpStatus == 200 else { return hasStatus ? nil : .httpStatus(httpStatus, for: "gRPC-Web") }
    guard isGRPCWeb else { return .notContentType("application/grpc-web") }
    guard !hasOtherFormat else { return .otherFormat }
    guard encoding != nil else { return .unknownResponseCompression }
    return nil
  }

  var hasMetadata: Bool { !hasStatus }
  var encoding: MessageCompression? { head.encoding }
  var responseBody: ClientResponseBody { .frames(endFlag: Self.endFlag) }

  func end(_ body: [UInt8]?) -> GRPCStatus {
    guard let body else {
      // The headers are the trailers, if there is a status among them.
      if hasStatus {
        trailers = metadata
        metadata = HPACKHeaders()
      }
      return head.status
    }
    head.headersDidEnd(endsStream: false)
    for line in body.split(separator: UInt8(ascii: "\n")) {
      let line = line.last == UInt8(ascii: "\r") ? line.dropLast() : line
      line.withUnsafeBufferPointer { line in
        guard let (name, value) = HTTP1Syntax.field(line) else { return }
        take(trailer: name.map(\.lowercased), value)
      }
    }
    return head.status
  }

  private func take(trailer name: [UInt8], _ value: Bytes) {
    name.withUnsafeBufferPointer { name in
      _ = head.add(name, value)
      if !Self.isOwn(name) { trailers.append(name: name, value: value) }
    }
  }
}

extension GRPCStatus {
  /// The status of a call in the protocol `name` whose response says no more than this.
  static func httpStatus(_ status: Int, for name: String) -> GRPCStatus {
    let why =
      status == 415
      ? ": the server does not answer \(name) for this method, or not in this format; "
        + "if it is a server of Switchboard, ServerOptions.web lets it"
      : ""
    return GRPCStatus(
      code: Code(httpStatus: status),
      message: "the HTTP status is \(status)\(why)",
      origin: .peer
    )
  }

  static func notContentType(_ type: String) -> GRPCStatus {
    GRPCStatus(code: .unknown, message: "the response's content type is not \(type)", origin: .peer)
  }

  static let otherFormat = GRPCStatus(
    code: .internalError,
    message: "the response's content type names another message format than the request's",
    origin: .peer
  )
  static let unknownResponseCompression = GRPCStatus(
    code: .internalError,
    message: "the response's compression is not supported",
    origin: .peer
  )
}
