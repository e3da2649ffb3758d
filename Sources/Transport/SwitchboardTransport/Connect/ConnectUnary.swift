// unsafe: header values that a session lends for one call

import SwitchboardCall
import SwitchboardText

/// A unary call of the Connect protocol: the bodies are the messages, and the status is HTTP's. It never changes, so calls
/// by POST in the same format share one.
final class ConnectUnary: DialectExchange, Sendable {
  private let subtype: ContentSubtype
  private let error: ConnectError
  /// The message, if it is in the head and not in the body.
  private let given: MessageBuffer?
  /// The HTTP status of a failure, unless the code decides.
  private let failureStatus: StaticString?

  init(
    _ subtype: ContentSubtype,
    _ error: ConnectError,
    given: MessageBuffer? = nil,
    failureStatus: StaticString? = nil
  ) {
    self.subtype = subtype
    self.error = error
    self.given = given
    self.failureStatus = failureStatus
  }

  var requestForm: DialectRequestForm { given.map { .given($0) } ?? .message(after: []) }

  /// The headers depend on the status.
  var waitsForEnd: Bool { true }

  func answer(_ message: MessageBuffer?, _ ending: borrowing DialectEnding, into headers: HeaderWriter)
    -> DialectBody?
  {
    guard ending.isOk, var body = message else { return fail(ending, into: headers) }
    writeHead(into: headers)
    if ending.compress(&body) { headers.add("content-encoding", ending.compression.rawValue.utf8) }
    if given != nil { headers.add("vary", "accept-encoding") }
    writeMetadata(of: ending, into: headers)
    return .message(body)
  }

  private func fail(_ ending: borrowing DialectEnding, into headers: HeaderWriter) -> DialectBody {
    let status = ending.status.ofUnreadableRequest
    let code = failureStatus ?? ConnectCode.httpStatus(status.code)
    headers.add(":status", UnsafeBufferPointer(start: code.utf8Start, count: code.utf8CodeUnitCount))
    headers.add("content-type", "application/json")
    writeMetadata(of: ending, into: headers)
    return .message(MessageBuffer(error.json(of: status)))
  }

  private func writeHead(into headers: HeaderWriter) {
    switch subtype {
    case .proto: headers.add(.connectProto)
    case .json: headers.add(.connectJSON)
    default:
      headers.add(":status", "200")
      headers.add("content-type", "application/\(subtype.name ?? "proto")".utf8)
    }
  }

  private func writeMetadata(of ending: borrowing DialectEnding, into headers: HeaderWriter) {
    if let metadata = ending.metadata { headers.add(metadata) }
    if let trailers = ending.trailers { headers.add(trailers, prefix: "trailer-") }
  }

  // MARK: Not used by unary calls, whose responses are sent as a whole

  func writeHead(_ metadata: HPACKHeaders?, _ compression: MessageCompression, into headers: HeaderWriter) {}
  var sendsFrames: Bool { false }
  var responseEncoder: (any DialectEncoder)? { nil }
  var isBase64: Bool { false }
  func end(_ ending: borrowing DialectEnding) -> [UInt8]? { nil }
}

/// A streaming call in the Connect protocol: envelopes in the form of gRPC's frames, the last with the status.
final class ConnectStream: DialectExchange {
  private let subtype: ContentSubtype
  private let error: ConnectError

  /// The flag of the last envelope.
  static let endFlag: UInt8 = 2

  init(_ subtype: ContentSubtype, _ error: ConnectError) {
    self.subtype = subtype
    self.error = error
  }

  var requestForm: DialectRequestForm { .frames }
  var waitsForEnd: Bool { false }
  func answer(_ message: MessageBuffer?, _ ending: borrowing DialectEnding, into headers: HeaderWriter)
    -> DialectBody?
  {
    nil
  }

  func writeHead(_ metadata: HPACKHeaders?, _ compression: MessageCompression, into headers: HeaderWriter) {
    headers.add(":status", "200")
    headers.add("content-type", "application/connect+\(subtype.name ?? "proto")".utf8)
    if compression != .none { headers.add("connect-content-encoding", compression.rawValue.utf8) }
    if let metadata { headers.add(metadata) }
  }

  var sendsFrames: Bool { true }
  var responseEncoder: (any DialectEncoder)? { nil }
  var isBase64: Bool { false }

  func end(_ ending: borrowing DialectEnding) -> [UInt8]? {
    Self.frame(Self.endFlag, error.endOfStream(ending.status.ofUnreadableRequest, ending.trailers))
  }
}

extension GRPCStatus {
  /// The status for a request that cannot be decoded. It is the client's fault, for which HTTP has a status; gRPC has
  /// only `INTERNAL`.
  package var ofUnreadableRequest: GRPCStatus {
    guard code == .internalError, origin != .peer, message?.begins(with: Self.unreadable) == true else {
      return self
    }
    var status = self
    status.code = .invalidArgument
    return status
  }

  private static let unreadable = "a message could not be decoded: "
}
