// unsafe: header values that a session lends for one call

import SwitchboardCall
import SwitchboardText

/// The Connect protocol. Unary calls are plain HTTP requests: POST, or GET for methods without side effects. Streams
/// consist of envelopes in the form of gRPC's frames, the last with the trailers.
final class ConnectDialect: Dialect {
  private let error: ConnectError
  /// Unary calls by POST, in the formats that most have.
  private let proto: ConnectUnary
  private let json: ConnectUnary

  init(error: ConnectError) {
    self.error = error
    proto = ConnectUnary(.proto, error)
    json = ConnectUnary(.json, error)
  }

  private static let streamType = "application/connect+"
  private static let unaryType = "application/"

  func accept(_ request: borrowing DialectRequest, _ methods: RPCMethods) -> DialectDecision? {
    switch request.httpMethod {
    case "POST": acceptPost(request, methods)
    case "GET": acceptGet(request, methods)
    default: nil
    }
  }

  private func acceptPost(_ request: borrowing DialectRequest, _ methods: RPCMethods) -> DialectDecision? {
    guard let method = request.method else { return nil }
    guard let (isStream, subtype) = Self.format(request) else { return nil }
    guard isStream != (method.descriptor.type == .unary), !subtype.isUnnamed,
      let method = method.inFormat(subtype)
    else { return Self.unsupportedType(method, subtype) }
    let headers = ConnectHeaders(request.headers, isStream: isStream)
    let exchange: any DialectExchange = isStream ? ConnectStream(subtype, error) : unary(subtype)
    return .call(headers.call(method, subtype, exchange, isRepeatable: !isStream))
  }

  private func unary(_ subtype: ContentSubtype) -> ConnectUnary {
    switch subtype {
    case .proto: proto
    case .json: json
    default: ConnectUnary(subtype, error)
    }
  }

  /// Parses the content type; `nil` if it is not one of Connect's.
  private static func format(
    _ request: borrowing DialectRequest
  ) -> (isStream: Bool, subtype: ContentSubtype)? {
    // The most common case, without making a string.
    if request.hasContentType("application/proto") { return (false, .proto) }
    if request.hasContentType("application/json") { return (false, .json) }
    let type = request.mediaType
    if type.begins(with: streamType) {
      return (true, subtype(Substring(type.utf8.dropFirst(streamType.utf8.count))))
    }
    guard type.begins(with: unaryType) else { return nil }
    return (false, subtype(Substring(type.utf8.dropFirst(unaryType.utf8.count))))
  }

  /// The format with exactly this name; an unnamed one if the name has invalid characters.
  private static func subtype(_ name: some StringProtocol) -> ContentSubtype {
    let subtype = ContentSubtype(String(name))
    return subtype.name?.utf8.elementsEqual(name.utf8) == true ? subtype : .unnamed
  }

  private func acceptGet(_ request: borrowing DialectRequest, _ methods: RPCMethods) -> DialectDecision? {
    guard let method = request.method ?? methods.method(request.path) else { return nil }
    guard method.descriptor.type == .unary, method.descriptor.idempotency == .noSideEffects else {
      return .refuse(status: "405", message: "the method is called by POST", header: ("allow", "POST"))
    }
    var headers = ConnectHeaders(request.headers, isStream: false)
    guard let query = ConnectQuery(request.query ?? []) else {
      return failed(
        headers,
        .connectViolation("the query has a percent sign that encodes nothing, or its message is not base64")
      )
    }
    guard let name = query.encoding else {
      return failed(headers, .connectViolation("the query has no encoding"))
    }
    let subtype = Self.subtype(name)
    guard !subtype.isUnnamed, let method = method.inFormat(subtype) else {
      return Self.unsupportedType(method, subtype)
    }
    guard let message = query.message else {
      return failed(headers, .connectViolation("the query has no message"))
    }
    if let version = query.version, !version.isExactly("v1") {
      return failed(headers, .connectViolation("connect is \(version.excerpt.debugDescription), not v1"))
    }
    headers.settle(compression: query.compression)
    let isCompressed = !message.isEmpty && (headers.settings.encoding ?? .none) != .none
    let given = MessageBuffer(unsafeByteCount: message.count, isCompressed: isCompressed) {
      $0.copyBytes(from: message)
    }
    let exchange = ConnectUnary(subtype, error, given: given)
    return .call(headers.call(method, subtype, exchange))
  }

  private static func unsupportedType(
    _ method: borrowing RPCMethod,
    _ subtype: ContentSubtype
  ) -> DialectDecision {
    let isUnary = method.descriptor.type == .unary
    let type = isUnary ? unaryType : streamType
    let common = [ContentSubtype.json, .proto]
    let formats = common.filter(method.formats.contains) + method.formats.filter { !common.contains($0) }
    let accepted = formats.compactMap(\.name).map { "\(type)\($0)" }
    return .refuse(
      status: "415",
      message:
        "the method\(isUnary ? "" : ", which streams,") does not take this content type\(method.accepts(accepted))\(method.advice(for: subtype))",
      header: accepted.isEmpty ? nil : ("accept-post", accepted.joined(separator: ", "))
    )
  }

  private func failed(_ headers: consuming ConnectHeaders, _ failure: GRPCStatus) -> DialectDecision {
    var headers = headers
    headers.failure = failure
    return .call(headers.call(nil, .unnamed, json))
  }
}

/// Rejects Connect requests for unknown paths. It is the last protocol to be tried.
final class UnknownConnectMethod: Dialect {
  private let error: ConnectError

  init(error: ConnectError) { self.error = error }

  func accept(_ request: borrowing DialectRequest, _ methods: RPCMethods) -> DialectDecision? {
    guard request.isPost, request.method == nil else { return nil }
    let type = request.mediaType
    guard
      type.isExactly("application/json") || type.isExactly("application/proto")
        || type.begins(with: "application/connect+")
    else { return nil }
    let failure = request.target.withUnsafeBufferPointer { GRPCStatus.unknownMethod($0) }
    let exchange = ConnectUnary(.json, error, failureStatus: "404")
    return .call(DialectCall(nil, .unnamed, exchange, failure: failure))
  }
}
