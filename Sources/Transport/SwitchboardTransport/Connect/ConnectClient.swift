// unsafe: header values that a session lends for one call
// text: objects of JSON, whose names are bounded when they are read

import SwitchboardCall
import SwitchboardText

/// The common parts of unary and streaming calls in the Connect protocol.
enum ConnectRequest {
  /// The name of a format in content types.
  static func name(_ subtype: ContentSubtype) -> String { subtype.name ?? "proto" }

  static func writeCommon(timeout: GRPCTimeout?, into headers: HeaderWriter) {
    headers.add("connect-protocol-version", "1")
    writeTimeout(timeout, into: headers)
  }

  static func writeTimeout(_ timeout: GRPCTimeout?, into headers: HeaderWriter) {
    guard let timeout else { return }
    // Rounded up: a server must not give up before its client.
    let milliseconds = min(timeout.nanoseconds / 1_000_000 + 1, 9_999_999_999)
    headers.add("connect-timeout-ms", String(milliseconds).utf8)
  }
}

/// A unary call by Connect: a plain HTTP request, by POST, or by GET if the method has no side effects.
final class ConnectUnaryClient: ClientDialect {
  private let subtype: ContentSubtype
  private var httpStatus = 0
  private var contentType: [UInt8] = []
  private(set) var encoding: MessageCompression? = MessageCompression.none
  private(set) var metadata = HPACKHeaders()
  private(set) var trailers = HPACKHeaders()
  /// The path and the query of a GET.
  let target: [UInt8]?

  /// The longest target of a GET. Servers and proxies refuse longer ones; such calls use POST.
  private static let longestTarget = 8 * 1024
  private static let trailerPrefix: StaticString = "trailer-"

  init(_ request: CallRequest, mayGet: Bool) {
    subtype = request.contentSubtype
    target = mayGet ? Self.target(of: request) : nil
  }

  private static func target(of request: CallRequest) -> [UInt8]? {
    guard request.method.idempotency == .noSideEffects, case .message(let message) = request.body,
      message.byteCount < longestTarget
    else { return nil }
    let encoded = message.withBytes { $0.withUnsafeBytes { Base64.encode($0) } }
      .map { $0 == UInt8(ascii: "+") ? UInt8(ascii: "-") : $0 == UInt8(ascii: "/") ? UInt8(ascii: "_") : $0 }
    let query = "?connect=v1&base64=1&encoding=\(ConnectRequest.name(request.contentSubtype))&message="
    let target = request.method.pathBytes + query.utf8 + encoded
    return target.count <= longestTarget ? target : nil
  }

  func writeHeaders(_ request: CallRequest, timeout: GRPCTimeout?, into headers: HeaderWriter) {
    headers.add("accept-encoding", "gzip,zstd,br,deflate")
    guard target == nil else { return ConnectRequest.writeTimeout(timeout, into: headers) }
    switch subtype {
    case .unnamed, .proto: headers.add("content-type", "application/proto")
    default: headers.add("content-type", "application/\(ConnectRequest.name(subtype))".utf8)
    }
    ConnectRequest.writeCommon(timeout: timeout, into: headers)
  }

  var requestBody: ClientRequestBody { target == nil ? .message : .none }

  func takeHeader(_ name: Bytes, _ value: Bytes) -> Bool {
    switch name.count {
    case 12 where name.equals("content-type"): contentType = Array(value)
    case 14 where name.equals("content-length"): break
    case 16 where name.equals("content-encoding"):
      encoding = MessageCompression(named: value)
    default:
      guard name.first != UInt8(ascii: ":") else { return false }
      return takeMetadata(name, value)
    }
    return false
  }

  private func takeMetadata(_ name: Bytes, _ value: Bytes) -> Bool {
    let prefix = Self.trailerPrefix
    let count = prefix.utf8CodeUnitCount
    guard name.count > count, Bytes(rebasing: name[..<count]).equals(prefix) else {
      metadata.append(name: name, value: value)
      return true
    }
    let trailer = Bytes(rebasing: name[count...])
    if ReservedHeaders.allow(trailer) { trailers.append(name: trailer, value: value) }
    return false
  }

  func headersDidEnd(httpStatus: Int) -> GRPCStatus? {
    self.httpStatus = httpStatus
    guard httpStatus == 200 else { return nil }
    let wanted = "application/\(ConnectRequest.name(subtype))"
    let type = String(
      decoding: HTTP1Syntax.trimmed(contentType.prefix { $0 != UInt8(ascii: ";") }).map(
        \.lowercased
      ),
      as: UTF8.self
    )
    guard type.isExactly(wanted) else {
      return type.isExactly("application/json") || type.isExactly("application/proto")
        ? .otherFormat : .notContentType(wanted)
    }
    return encoding == nil ? .unknownResponseCompression : nil
  }

  var hasMetadata: Bool { true }
  var responseBody: ClientResponseBody { httpStatus == 200 ? .message : .error }

  /// The status from the error in the body, or else from the HTTP status.
  func end(_ body: [UInt8]?) -> GRPCStatus {
    guard httpStatus != 200 else { return .ok }
    let inferred = GRPCStatus.httpStatus(httpStatus, for: "Connect")
    guard let body, contentType.starts(with: "application/json".utf8) else { return inferred }
    return ConnectErrorReader.status(body, else: inferred)
  }
}

/// A streaming call by Connect: envelopes in the form of gRPC's frames, the last with the status.
final class ConnectStreamClient: ClientDialect {
  private let subtype: ContentSubtype
  private var contentType: [UInt8] = []
  private(set) var encoding: MessageCompression? = MessageCompression.none
  private(set) var metadata = HPACKHeaders()
  private(set) var trailers = HPACKHeaders()

  init(_ request: CallRequest) { subtype = request.contentSubtype }

  func writeHeaders(_ request: CallRequest, timeout: GRPCTimeout?, into headers: HeaderWriter) {
    headers.add("content-type", "application/connect+\(ConnectRequest.name(subtype))".utf8)
    headers.add("connect-accept-encoding", "gzip,zstd,br,deflate")
    if let options = request.options, options.compression != .none {
      headers.add("connect-content-encoding", options.compression.rawValue.utf8)
    }
    ConnectRequest.writeCommon(timeout: timeout, into: headers)
  }

  var requestBody: ClientRequestBody { .frames }

  func takeHeader(_ name: Bytes, _ value: Bytes) -> Bool {
    switch name.count {
    case 12 where name.equals("content-type"): contentType = Array(value)
    case 14 where name.equals("content-length"): break
    case 23 where name.equals("connect-accept-encoding"): break
    case 24 where name.equals("connect-content-encoding"):
      encoding = MessageCompression(named: value)
    default:
      guard name.first != UInt8(ascii: ":") else { return false }
      metadata.append(name: name, value: value)
      return true
    }
    return false
  }

  func headersDidEnd(httpStatus: Int) -> GRPCStatus? {
    guard httpStatus == 200 else { return .httpStatus(httpStatus, for: "Connect") }
    let wanted = "application/connect+\(ConnectRequest.name(subtype))"
    let type = String(decoding: contentType.prefix { $0 != UInt8(ascii: ";") }, as: UTF8.self).lowercased()
    guard type.isExactly(wanted) else {
      return type.begins(with: "application/connect+") ? .otherFormat : .notContentType(wanted)
    }
    return encoding == nil ? .unknownResponseCompression : nil
  }

  var hasMetadata: Bool { true }
  var responseBody: ClientResponseBody { .frames(endFlag: ConnectStream.endFlag) }

  func end(_ body: [UInt8]?) -> GRPCStatus {
    guard let body else {
      return GRPCStatus(code: .internalError, message: "the response has no last envelope", origin: .peer)
    }
    let text = String(decoding: body, as: UTF8.self)
    guard case .object(let members)? = try? ConfigValue(json: text, boundsText: false) else {
      return GRPCStatus(
        code: .internalError,
        message: "the last envelope is not a JSON object",
        origin: .peer
      )
    }
    if case .object(let fields)? = members["metadata"] { take(fields) }
    guard let error = members["error"], error != .null else { return .ok }
    return ConnectErrorReader.status(error, else: GRPCStatus(code: .unknown, origin: .peer))
  }

  private func take(_ fields: [String: ConfigValue]) {
    for (name, values) in fields.sorted(by: { $0.key.precedes($1.key) }) {
      guard case .array(let list) = values else { continue }
      let name = name.utf8.map(\.lowercased)
      guard name.withUnsafeBufferPointer({ FieldSyntax.isName($0) && ReservedHeaders.allow($0) }) else {
        continue
      }
      for case .string(let value) in list {
        let value = Array(value.utf8)
        // A value that is not valid in a header is skipped, as over HTTP.
        guard value.withUnsafeBufferPointer(FieldSyntax.isValue) else { continue }
        trailers.append(name: name, value: value)
      }
    }
  }
}
