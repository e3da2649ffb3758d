// unsafe: header bytes that the session lends for one callback
// state: the fields of a head, each where its reader puts it

import SwitchboardCall
import SwitchboardText

/// The headers of a request, parsed as they arrive. What gRPC itself needs is stored separately; the rest is metadata.
/// Not copyable, because a copy of so many fields costs more than most things that a request needs.
struct RequestHead: ~Copyable {
  /// What other protocols see of it. Its method is the result of looking up the path, and then that in the format that the
  /// client names.
  private(set) var request: DialectRequest
  var method: RPCMethod? { request.method }
  /// Set if the path was not found.
  private var unknownMethod: GRPCStatus? {
    request.otherTarget.isEmpty ? nil : request.otherTarget.withUnsafeBufferPointer { .unknownMethod($0) }
  }
  /// Contains no headers of gRPC itself, or of the call's own protocol.
  var metadata: HPACKHeaders {
    guard let traceParent else { return plainMetadata }
    var all = plainMetadata
    all.add(traceParent: traceParent)
    return all
  }
  /// The metadata without `traceParent`.
  var plainMetadata: HPACKHeaders { otherMetadata ?? request.headers }
  /// The header of that name, if it is kept apart: most calls that have it differ in nothing else, and none has it twice.
  private(set) var traceParent: SpanIdentity?
  private let keepsTraceParent: Bool
  private var hasOtherTraceParent = false
  /// Whether the session has taken `traceParent` out of the block.
  private var hasLateTraceParent = false
  var timeout: GRPCTimeout?
  var encoding: MessageCompression? = MessageCompression.none
  var accepted = AcceptedCompressions()
  /// The format in which the client encodes its messages, and expects responses.
  private(set) var contentSubtype = ContentSubtype.unnamed
  /// The rules for web pages, if they may call at all.
  let crossOrigin: CrossOrigin?
  /// Whether it is a call in a protocol other than gRPC.
  private(set) var isOtherCall = false
  /// Why a call of another protocol fails before its handler runs.
  private var otherFailure: GRPCStatus?
  /// The page that answers, if it is not a call.
  var page: HTTPPage?
  /// The rejection by another protocol.
  var refusal: Rejection?
  /// Whether that protocol has settings of its own, and not gRPC's.
  private var hasOtherSettings = false
  /// The metadata of such a call, if other headers are not metadata.
  private var otherMetadata: HPACKHeaders?
  /// Identifies the headers if they are those of an earlier request on the connection.
  private(set) var repeatedFields: Int?
  /// Identifies them also if they are not, unless they are large.
  private(set) var fieldsNumber: Int?
  /// The size of the fields, as HTTP/2 counts it.
  private var listSize = 0
  private let listSizeLimit: Int
  private var isOptions = false
  /// The names of which the client has to use one; `nil` when it has, or if it may use any.
  private var hosts: HostNames?
  /// Whether a page of a web site has sent the request.
  private var hasOrigin = false
  private var isGRPC = false
  /// Whether the version of HTTP can carry gRPC itself.
  private let carriesGRPC: Bool
  private var hasUnknownFormat = false
  private var acceptsTrailers = false
  private var hasBadTimeout = false
  private var hasContentType = false
  /// Whether there is more than one content type, of which another reader might take another one.
  private(set) var hasManyContentTypes = false
  private var hasEncoding = false
  /// Whether it was taken from an equal head.
  private(set) var isKnown = false

  /// Why a request is not passed to a handler.
  enum Rejection {
    /// See `DialectDecision.refuse`.
    case http(status: StaticString, message: String, header: (name: StaticString, value: String)? = nil)
    /// A preflight request: a browser asks whether a page may call.
    case preflight
    case status(GRPCStatus)
  }

  typealias Bytes = UnsafeBufferPointer<UInt8>

  init(
    listSizeLimit: Int,
    crossOrigin: CrossOrigin? = nil,
    carriesGRPC: Bool = true,
    keepsTraceParent: Bool = false,
    hosts: HostNames? = nil
  ) {
    self.listSizeLimit = listSizeLimit
    self.crossOrigin = crossOrigin
    self.keepsTraceParent = keepsTraceParent
    self.hosts = hosts
    self.carriesGRPC = carriesGRPC
    request = DialectRequest()
  }

  /// Returns the requested encoding if the client accepts it, and otherwise none.
  func negotiated(_ wanted: MessageCompression) -> MessageCompression {
    accepted.contains(wanted) ? wanted : .none
  }

  mutating func take(_ found: consuming RPCMethod?, for path: Bytes) {
    guard let found else {
      // The path may belong to another protocol, and counts as a header.
      listSize += path.count
      request.otherTarget = Array(path.prefix(listSizeLimit))
      return
    }
    request.method = found
  }

  /// Adds a field other than `:path`, whose handler the caller looks up.
  mutating func add(_ name: Bytes, _ value: Bytes, _ fields: FieldCollector) {
    listSize += name.count + value.count + 32
    guard listSize <= listSizeLimit else {
      // The protocol in which the rejection is sent.
      if name.equals("content-type"), value.count < 256 { take(contentType: value) }
      return
    }
    if name.first == UInt8(ascii: ":") { return addPseudo(name, value) }
    switch name.count {
    case 2 where name.equals("te"):
      acceptsTrailers = value.equals("trailers")
    case 6 where name.equals("origin"):
      hasOrigin = true
      fields.append(name: name, value: value)
    case 11 where keepsTraceParent && name.equals("traceparent"):
      take(traceParent: value, name, fields)
    case 12 where name.equals("content-type"):
      take(contentType: value)
    case 12 where name.equals("grpc-timeout"):
      hasBadTimeout = hasBadTimeout || timeout != nil
      timeout = GRPCTimeout(value)
      if timeout == nil { hasBadTimeout = true }
    case 13 where name.equals("grpc-encoding"):
      encoding = hasEncoding ? nil : MessageCompression(named: value)
      hasEncoding = true
    case 20 where name.equals("grpc-accept-encoding"):
      accepted.add(value)
    default:
      fields.append(name: name, value: value)
    }
  }

  private mutating func take(contentType value: Bytes) {
    hasManyContentTypes = hasContentType
    guard !hasContentType else { return }
    hasContentType = true
    isGRPC = value.isMediaType("application/grpc")
    if isGRPC { contentSubtype = value.contentSubtype } else { request.contentType = Self.kept(value) }
  }

  /// The usual content types, which most requests have: a copy of its own would be an allocation.
  private static let json = Array("application/json".utf8)
  private static let proto = Array("application/proto".utf8)

  private static func kept(_ value: Bytes) -> [UInt8] {
    value.equals("application/json") ? json : value.equals("application/proto") ? proto : Array(value)
  }

  /// An invalid or repeated value stays among the fields, where it can be reported as such, in the order in which they came.
  private mutating func take(traceParent value: Bytes, _ name: Bytes, _ fields: FieldCollector) {
    if traceParent == nil, !hasOtherTraceParent, let identity = SpanIdentity(text: value) {
      traceParent = identity
    } else {
      hasOtherTraceParent = true
      if let first = traceParent, !hasLateTraceParent {
        first.text.withUnsafeBufferPointer { fields.append(name: name, value: $0) }
        traceParent = nil
      }
      fields.append(name: name, value: value)
    }
  }

  /// Takes the first field, which the session has taken out of the block.
  mutating func take(_ identity: SpanIdentity) {
    listSize += SpanIdentity.listSize
    guard listSize <= listSizeLimit else { return }
    traceParent = identity
    hasLateTraceParent = true
  }

  /// Takes what an equal head says, without a `traceparent` that the session has taken out of the block.
  mutating func take(_ known: KnownHead) {
    request.method = known.method
    request.headers = known.metadata
    request.isPost = true
    (isGRPC, acceptsTrailers, isKnown) = (true, true, true)
    repeatedFields = known.fieldsNumber
    contentSubtype = known.contentSubtype
    timeout = known.timeout
    encoding = known.encoding
    accepted = known.accepted
  }

  /// Whether an equal head, with any `traceparent` of that kind, leads to an equal call of gRPC.
  var isRepeatable: Bool {
    isValidCall && isGRPC && !isOtherCall && !hasOrigin && !hasOtherTraceParent
      && (traceParent == nil || hasLateTraceParent) && listSize + SpanIdentity.listSize <= listSizeLimit
  }

  /// Called after the last field.
  mutating func end(_ fields: FieldCollector) {
    request.headers = fields.take()
    repeatedFields = fields.repeated
    fieldsNumber = fields.number
    // Other protocols look at all of their headers, and several times.
    guard let traceParent, !isGRPC || hasOtherTraceParent else { return }
    repeatedFields = nil
    request.headers.add(traceParent: traceParent)
    self.traceParent = nil
  }

  /// Whether the content type names a message format.
  @inline(__always) var namesFormat: Bool { !contentSubtype.isUnnamed }

  /// Whether the content type is gRPC's, so that no other protocol is asked.
  @inline(__always) var isForGRPC: Bool { isGRPC }

  /// Whether CORS decides the request, so that no protocol receives it: its origin is not allowed, or it is a preflight
  /// request.
  var isForCrossOrigin: Bool {
    guard hasOrigin, let crossOrigin else { return false }
    return isOptions && CrossOrigin.isPreflight(request.headers) || !crossOrigin.allows(request.headers)
  }

  /// Records whether the request ended with its head.
  mutating func end(hasNoBody: Bool) { request.hasNoBody = hasNoBody }

  /// Whether the answer has headers only.
  var isHead: Bool { !request.isPost && request.otherMethod == "HEAD" }

  /// Stores the call that another protocol has made from the request.
  mutating func take(_ call: borrowing DialectCall) {
    isOtherCall = true
    // Copying a status costs more than all the rest, and few calls have one.
    if call.failure != nil { otherFailure = call.failure }
    request.method = call.method
    contentSubtype = call.subtype
    switch call.settings {
    case nil: break
    case let settings?:
      // A protocol without its own header for the timeout uses gRPC's.
      if let own = settings.timeout {
        timeout = own
        hasBadTimeout = false
      }
      hasOtherSettings = true
      encoding = settings.encoding
      accepted = settings.accepted
      otherMetadata = settings.metadata
    }
  }

  /// The request of a page.
  func pageRequest(body: [UInt8], peer: PeerIdentity) -> HTTPPage.Request {
    HTTPPage.Request(
      method: request.httpMethod,
      path: String(decoding: request.path, as: UTF8.self),
      query: request.query.map { String(decoding: $0, as: UTF8.self) },
      headers: request.headers,
      body: body,
      peer: peer
    )
  }

  /// Adds the headers that let a page of another origin read the response.
  func addCrossOrigin(to headers: HeaderWriter) {
    guard let crossOrigin else { return }
    if hasOrigin {
      crossOrigin.addResponse(to: request.headers, into: headers)
    } else {
      crossOrigin.addVary(into: headers)
    }
  }

  /// Finds the handler for the format that the client names. Called after the last field.
  mutating func settleFormat() {
    guard let other = request.method?.inFormat(contentSubtype) else {
      hasUnknownFormat = request.method != nil
      contentSubtype = .unnamed
      return
    }
    request.method = other
  }

  private mutating func addPseudo(_ name: Bytes, _ value: Bytes) {
    if let names = hosts, name.equals(":authority"), names.contain(value) { hosts = nil }
    guard name.equals(":method") else { return }
    request.isPost = value.equals("POST")
    guard !request.isPost else { return }
    isOptions = value.equals("OPTIONS")
    request.otherMethod = String(decoding: value.prefix(32), as: UTF8.self)
  }

  var isTooLarge: Bool { listSize > listSizeLimit }

  /// Whether this is a valid call with a handler, as most requests are. Inlined, so that the caller copies nothing.
  @inline(__always) private var isValidCall: Bool {
    guard request.method != nil, encoding != nil, !isTooLarge, !hasBadTimeout, !hasUnknownFormat,
      !hasManyContentTypes
    else { return false }
    // What browsers cannot send may have any name.
    return isOtherCall
      ? otherFailure == nil && hosts == nil : request.isPost && isGRPC && acceptsTrailers && carriesGRPC
  }

  /// The rejection that the request's protocol requires; `nil` if the request may be passed to the handler or the page.
  @inline(__always) var rejection: Rejection? { isValidCall ? nil : rejectionOfInvalid }

  // In parts, because the compiler's time grows with the square of how often one reads a head that cannot be copied.
  private var rejectionOfInvalid: Rejection? {
    if isTooLarge, isGRPC || isOtherCall { return .status(.headersTooLarge) }
    if isTooLarge {
      return .http(
        status: "431",
        message: "the request's headers are larger than the server's limit (ServerOptions.maxMetadataSize)"
      )
    }
    if hosts != nil { return .http(status: "421", message: "the server does not answer under this name") }
    if hasManyContentTypes {
      return .http(status: "400", message: "the request has more than one content-type")
    }
    if let crossOrigin, !isGRPC, !isOtherCall, !crossOrigin.allows(metadata) {
      return .http(status: "403", message: "pages of this origin may not call")
    }
    if isOptions, crossOrigin != nil, CrossOrigin.isPreflight(metadata) { return .preflight }
    if isOtherCall { return otherRejection }
    if let refusal { return refusal }
    return page == nil ? grpcRejection : nil
  }

  private var grpcRejection: Rejection? {
    guard request.isPost else {
      return .http(status: "405", message: "a gRPC call is a POST", header: ("allow", "POST"))
    }
    guard isGRPC, carriesGRPC else {
      let message =
        if isGRPC {
          "gRPC needs HTTP/2; over HTTP/1.1 the content type is application/grpc-web"
        } else if crossOrigin == nil {
          "the content type is not application/grpc; ServerOptions.web lets a server answer Connect and gRPC-Web"
        } else {
          "the content type is not that of a call, such as application/json, application/connect+json for streams, "
            + "application/grpc-web or application/grpc"
        }
      return .http(status: "415", message: message)
    }
    guard acceptsTrailers else { return .status(.missingTrailersSupport) }
    guard !hasBadTimeout else { return .status(.badTimeout) }
    guard let method else { return .status(unknownMethod ?? GRPCStatus(code: .unimplemented)) }
    guard !hasUnknownFormat else { return .status(.unknownFormat(of: method)) }
    guard encoding != nil else { return .status(.unknownEncoding) }
    return nil
  }

  private var otherRejection: Rejection? {
    if let otherFailure { return .status(otherFailure) }
    // A protocol with its own settings answers with HTTP statuses, and HTTP has one for mistakes of the client.
    guard !hasBadTimeout else { return .status(!hasOtherSettings ? .badTimeout : .badTimeoutOfHTTP) }
    guard method != nil else { return .status(unknownMethod ?? GRPCStatus(code: .unimplemented)) }
    guard encoding != nil else { return .status(.unknownEncoding) }
    return nil
  }
}

extension GRPCStatus {
  static func unknownMethod(_ path: UnsafeBufferPointer<UInt8>) -> GRPCStatus {
    GRPCStatus(
      code: .unimplemented,
      message: "there is no method \(path.excerpt(200).debugDescription) here",
      origin: .library
    )
  }
}
