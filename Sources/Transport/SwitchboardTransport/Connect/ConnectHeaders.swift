// unsafe: header values that a session lends for one call

import SwitchboardCall
import SwitchboardText

/// The headers of a Connect request that are the protocol's own.
struct ConnectHeaders: ~Copyable {
  private(set) var settings = DialectSettings()
  /// Why the headers are invalid.
  var failure: GRPCStatus?
  private(set) var version: String?
  private var encodingName: String?
  private var accepts = false

  private static let timeoutDigits = 10

  /// Reads the headers of a unary or a streaming request. The two name their compressions in different headers.
  init(_ headers: HPACKHeaders, isStream: Bool) {
    var hasOwn = false
    headers.forEachField { if take($0, $1, isStream: isStream) { hasOwn = true } }
    if hasOwn { settings.metadata = Self.metadata(of: headers, isStream) }
    if let version, !version.isExactly("1") {
      failure = .connectViolation("connect-protocol-version is \(version.excerpt.debugDescription), not 1")
    }
    settle(compression: encodingName)
  }

  /// A call with these headers.
  consuming func call(
    _ method: consuming RPCMethod?,
    _ subtype: consuming ContentSubtype,
    _ exchange: consuming any DialectExchange,
    isRepeatable: Bool = false
  ) -> DialectCall {
    DialectCall(method, subtype, exchange, settings: settings, failure: failure, isRepeatable: isRepeatable)
  }

  /// The headers without the protocol's own.
  private static func metadata(of headers: HPACKHeaders, _ isStream: Bool) -> HPACKHeaders {
    var metadata = HPACKHeaders()
    headers.forEachField { name, value in
      if !isOwn(name, isStream) { metadata.append(name: name, value: value) }
    }
    metadata.markReceived()
    return metadata
  }

  private static func isOwn(_ name: Bytes, _ isStream: Bool) -> Bool {
    switch name.count {
    case 15: !isStream && name.equals("accept-encoding")
    case 16: !isStream && name.equals("content-encoding")
    case 18: name.equals("connect-timeout-ms")
    case 23: isStream && name.equals("connect-accept-encoding")
    case 24:
      isStream && name.equals("connect-content-encoding") || name.equals("connect-protocol-version")
    default: false
    }
  }

  /// Returns whether the header is the protocol's own.
  private mutating func take(_ name: Bytes, _ value: Bytes, isStream: Bool) -> Bool {
    guard Self.isOwn(name, isStream) else { return false }
    switch name.count {
    case 15, 23: accept(value)
    case 18: takeTimeout(value)
    case 24 where name.equals("connect-protocol-version"):
      if version != nil { refuseAnother("connect-protocol-version") }
      version = String(decoding: value, as: UTF8.self)
    default:
      if encodingName != nil { refuseAnother("the encoding of the content") }
      encodingName = String(decoding: value, as: UTF8.self)
    }
    return true
  }

  /// Another reader might take another of several values.
  private mutating func refuseAnother(_ what: StaticString) {
    failure = .connectViolation("\(what) is said more than once")
  }

  private typealias Bytes = UnsafeBufferPointer<UInt8>

  private mutating func accept(_ value: Bytes) {
    accepts = true
    settings.accepted.add(value)
  }

  private mutating func takeTimeout(_ value: Bytes) {
    guard (1...Self.timeoutDigits).contains(value.count),
      let milliseconds = HTTP1Syntax.number(value)
    else {
      failure = .connectViolation("connect-timeout-ms is not a number of at most ten digits")
      return
    }
    if settings.timeout != nil { refuseAnother("connect-timeout-ms") }
    settings.timeout = GRPCTimeout(nanoseconds: UInt64(milliseconds) * 1_000_000)
  }

  /// Sets the request's compression, which a GET has in its query.
  mutating func settle(compression name: String?) {
    guard let name, !name.isEmpty else { return }
    settings.encoding = Array(name.utf8).withUnsafeBufferPointer { MessageCompression(named: $0) }
    if let encoding = settings.encoding {
      // A client that lists no compressions accepts the one that it uses.
      if !accepts, encoding != .none { settings.accepted.insert(AcceptedCompressions(encoding)) }
    } else {
      failure = GRPCStatus(
        code: .unimplemented,
        message:
          "unknown compression \(name.excerpt.debugDescription): supported are gzip, deflate, zstd, br",
        origin: .peer
      )
    }
  }
}

extension GRPCStatus {
  static func connectViolation(_ what: String) -> GRPCStatus {
    GRPCStatus(code: .invalidArgument, message: "protocol error: \(what)", origin: .peer)
  }
}
