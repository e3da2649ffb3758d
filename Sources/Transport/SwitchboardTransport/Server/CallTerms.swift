// unsafe: header bytes that the session lends for one callback

import SwitchboardCall

/// What the head of a request says of a call in gRPC's own headers, or a dialect in their place. A header that is wrong, or
/// came twice, stays noted as such: the call is answered with a status, once its head is complete.
struct CallTerms {
  typealias Bytes = UnsafeBufferPointer<UInt8>

  /// Whether the content type is gRPC's.
  private(set) var isGRPC = false
  /// The format in which the client encodes its messages, and expects responses.
  private(set) var format = ContentSubtype.unnamed
  private(set) var acceptsTrailers = false
  private(set) var timeout: GRPCTimeout?
  private(set) var hasBadTimeout = false
  /// `nil` if it is unknown or repeated.
  private(set) var encoding: MessageCompression? = MessageCompression.none
  /// Its name, if it is unknown; empty if it is repeated.
  private(set) var unknownEncoding: [UInt8] = []
  private var hasEncoding = false
  private(set) var accepted = AcceptedCompressions()
  private(set) var hasUnknownFormat = false

  private static let mostShown = 50

  /// Whether none of them is wrong.
  @inline(__always) var areValid: Bool { encoding != nil && !hasBadTimeout && !hasUnknownFormat }

  /// Returns the wanted compression if the client accepts it, and otherwise none.
  func negotiated(_ wanted: MessageCompression) -> MessageCompression {
    accepted.contains(wanted) ? wanted : .none
  }

  // MARK: gRPC's headers

  /// Returns `false` if the content type is not gRPC's.
  mutating func addContentType(_ value: Bytes) -> Bool {
    isGRPC = value.isMediaType("application/grpc")
    if isGRPC { format = value.contentSubtype }
    return isGRPC
  }

  mutating func addTE(_ value: Bytes) { acceptsTrailers = value.equals("trailers") }

  mutating func addTimeout(_ value: Bytes) {
    hasBadTimeout = hasBadTimeout || timeout != nil
    timeout = GRPCTimeout(value)
    if timeout == nil { hasBadTimeout = true }
  }

  mutating func addEncoding(_ value: Bytes) {
    encoding = hasEncoding ? nil : MessageCompression(named: value)
    unknownEncoding = encoding == nil && !hasEncoding ? Array(value.prefix(Self.mostShown)) : []
    hasEncoding = true
  }

  mutating func addAccepted(_ value: Bytes) { accepted.add(value) }

  /// The method has no handler for the format.
  mutating func formatIsUnknown(for method: RPCMethod?) {
    hasUnknownFormat = method != nil
    format = .unnamed
  }

  // MARK: A dialect's

  mutating func setFormat(_ format: ContentSubtype) { self.format = format }

  mutating func set(_ settings: borrowing DialectSettings) {
    // A dialect without its own header for the timeout uses gRPC's.
    if let own = settings.timeout {
      timeout = own
      hasBadTimeout = false
    }
    encoding = settings.encoding
    accepted = settings.accepted
  }
}
