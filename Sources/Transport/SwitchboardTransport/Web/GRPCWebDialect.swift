// unsafe: bytes that a stream or a session lends for one call

import SwitchboardCall

/// gRPC-Web: gRPC's messages and headers, with the trailers at the end of the body.
final class GRPCWebDialect: Dialect {
  func accept(_ request: borrowing DialectRequest, _ methods: RPCMethods) -> DialectDecision? {
    guard let format = request.contentType.withUnsafeBufferPointer(WebFormat.init(contentType:)) else {
      return nil
    }
    let subtype = request.contentType.withUnsafeBufferPointer(\.contentSubtype)
    guard request.httpMethod == "POST" else {
      return .refuse(status: "405", message: "a gRPC call is a POST", header: ("allow", "POST"))
    }
    guard let method = request.method else {
      let failure = request.target.withUnsafeBufferPointer { GRPCStatus.unknownMethod($0) }
      return .call(DialectCall(nil, .unnamed, GRPCWebExchange(format, .unnamed), failure: failure))
    }
    guard let chosen = subtype.isUnnamed ? method : method.inFormat(subtype) else {
      let failure = GRPCStatus.unknownFormat(of: method)
      return .call(DialectCall(method, .unnamed, GRPCWebExchange(format, .unnamed), failure: failure))
    }
    return .call(DialectCall(chosen, subtype, GRPCWebExchange(format, subtype)))
  }
}

/// A call of gRPC-Web: Base64 in the text format, and trailers in the body.
final class GRPCWebExchange: DialectExchange, DialectFraming {
  private let format: WebFormat
  private let subtype: ContentSubtype
  private var decoder = Base64Decoder()

  init(_ format: WebFormat, _ subtype: ContentSubtype) {
    self.format = format
    self.subtype = subtype
  }

  var requestForm: DialectRequestForm { format == .text ? .converted(self) : .frames }

  var addedByteCount: Int { 0 }
  var gatheredByteCount: Int { 0 }

  func frames(from piece: inout UnsafeRawBufferPointer, _ limit: MessageLimit) throws(GRPCStatus) -> [UInt8] {
    let part = UnsafeRawBufferPointer(rebasing: piece.prefix(Self.step))
    piece = UnsafeRawBufferPointer(rebasing: piece[part.count...])
    guard let decoded = decoder.decode(part) else { throw .brokenText }
    return decoded
  }

  private static let step = 16 * 1024

  func framesAtEnd(_ limit: MessageLimit) throws(GRPCStatus) -> [UInt8] {
    guard !decoder.isInsideGroup else { throw .truncatedMessage }
    return []
  }

  var waitsForEnd: Bool { false }
  func answer(_ message: MessageBuffer?, _ ending: borrowing DialectEnding, into headers: HeaderWriter)
    -> DialectBody?
  {
    nil
  }

  func writeHead(_ metadata: HPACKHeaders?, _ compression: MessageCompression, into headers: HeaderWriter) {
    headers.add(":status", "200")
    headers.add("content-type", format.contentType(subtype).utf8)
    if compression != .none { headers.add("grpc-encoding", compression.rawValue.utf8) }
    if let metadata { headers.add(metadata) }
  }

  var sendsFrames: Bool { true }
  var responseEncoder: (any DialectEncoder)? { nil }
  var isBase64: Bool { format == .text }

  /// The trailers as a message with a flag. They are part of the body, so the limit for headers does not apply.
  func end(_ ending: borrowing DialectEnding) -> [UInt8]? {
    let headers = HeaderWriter()
    headers.add(ending.status, ending.trailers)
    var lines: [UInt8] = []
    headers.forEachField { name, value in
      lines += name
      lines.append(UInt8(ascii: ":"))
      lines += value
      lines += "\r\n".utf8
    }
    return Self.frame(GRPCWebClient.endFlag, lines)
  }
}
