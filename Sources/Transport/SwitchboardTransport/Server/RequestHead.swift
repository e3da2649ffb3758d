// unsafe: header bytes that the session lends for one callback

import SwitchboardCall

/// The headers of a request, parsed as they arrive: its parts, each of which reads its own fields. The rest is metadata.
/// Not copyable, because a copy of so many fields costs more than most things that a request needs.
struct RequestHead: ~Copyable {
  typealias Bytes = UnsafeBufferPointer<UInt8>

  /// What dialects see of it. Its method is the result of looking up the path, and then that in the format that the client
  /// names.
  private(set) var request: DialectRequest
  private(set) var terms = CallTerms()
  private(set) var origin: RequestOrigin
  private(set) var trace: TraceParentField
  /// What a dialect has made of it, if one has.
  private(set) var outcome: DialectOutcome?
  /// Which other heads of the connection it equals.
  private(set) var likeness = Likeness()
  private var size: HeadSize
  /// If there are several, another reader might take another one.
  private var contentTypeCount = 0
  /// The names of which the client has to use one; `nil` when it has, or if it may use any.
  private(set) var hosts: HostNames?
  /// Whether the version of HTTP can carry gRPC itself.
  let carriesGRPC: Bool

  struct Likeness {
    /// Identifies the headers if they are those of an earlier request on the connection.
    fileprivate(set) var repeatedFields: Int?
    /// Identifies them also if they are not, unless they are large.
    fileprivate(set) var fieldsNumber: Int?
    /// Whether all was taken from an equal head.
    fileprivate(set) var isKnown = false
  }

  init(
    listSizeLimit: Int,
    crossOrigin: CrossOrigin? = nil,
    carriesGRPC: Bool = true,
    keepsTraceParent: Bool = false,
    hosts: HostNames? = nil
  ) {
    size = HeadSize(limit: listSizeLimit)
    origin = RequestOrigin(rules: crossOrigin)
    trace = TraceParentField(isWanted: keepsTraceParent)
    self.hosts = hosts
    self.carriesGRPC = carriesGRPC
    request = DialectRequest()
  }

  // MARK: The fields

  /// Adds `:path`, which the caller has looked up.
  mutating func addPath(_ path: Bytes, of method: consuming RPCMethod?) {
    guard let method else {
      // The path may belong to a dialect, and counts as a header.
      _ = size.add(path.count)
      request.otherTarget = size.kept(path)
      return
    }
    request.method = method
  }

  /// Adds any other field.
  mutating func add(_ name: Bytes, _ value: Bytes, _ fields: FieldCollector) {
    guard size.add(name.count + value.count + 32) else {
      // The protocol in which the rejection is sent.
      if name.equals("content-type"), value.count < 256 { addContentType(value) }
      return
    }
    if name.first == UInt8(ascii: ":") { return addPseudo(name, value) }
    switch name.count {
    case 2 where name.equals("te"): terms.addTE(value)
    case 6 where name.equals("origin"):
      origin.isThere()
      fields.append(name: name, value: value)
    case 11 where trace.isWanted && name.equals("traceparent"): trace.add(value, name, fields)
    case 12 where name.equals("content-type"): addContentType(value)
    case 12 where name.equals("grpc-timeout"): terms.addTimeout(value)
    case 13 where name.equals("grpc-encoding"): terms.addEncoding(value)
    case 20 where name.equals("grpc-accept-encoding"): terms.addAccepted(value)
    default: fields.append(name: name, value: value)
    }
  }

  private mutating func addPseudo(_ name: Bytes, _ value: Bytes) {
    if let names = hosts, name.equals(":authority"), names.contain(value) { hosts = nil }
    guard name.equals(":method") else { return }
    request.isPost = value.equals("POST")
    guard !request.isPost else { return }
    if value.equals("OPTIONS") { origin.methodIsOptions() }
    request.otherMethod = String(decoding: value.prefix(32), as: UTF8.self)
  }

  private mutating func addContentType(_ value: Bytes) {
    contentTypeCount += 1
    guard contentTypeCount == 1, !terms.addContentType(value) else { return }
    request.contentType = Self.kept(value)
  }

  /// The usual content types, which most requests have: a copy of its own would be an allocation.
  private static let json = Array("application/json".utf8)
  private static let proto = Array("application/proto".utf8)

  private static func kept(_ value: Bytes) -> [UInt8] {
    value.equals("application/json") ? json : value.equals("application/proto") ? proto : Array(value)
  }

  /// Adds the first `traceparent`, which the session has taken out of the block.
  mutating func addLateTraceParent(_ identity: SpanIdentity) {
    if size.add(SpanIdentity.listSize) { trace.addLate(identity) }
  }

  /// Takes what an equal head says, without a `traceparent` that the session has taken out of the block.
  mutating func repeatKnown(_ known: KnownHead) {
    request.headers = known.metadata
    if let call = known.call {
      repeatKnown(call)
    } else {
      (request.method, request.isPost) = (known.method, true)
    }
    terms = known.terms
    likeness.isKnown = true
    likeness.repeatedFields = known.fieldsNumber
  }

  /// Takes what the dialect was told, which is asked again unless the request ends as that of the call.
  private mutating func repeatKnown(_ call: KnownCall) {
    request.method = call.method
    request.otherTarget = call.target
    request.contentType = call.contentType
    request.otherMethod = call.otherMethod
    request.isPost = call.otherMethod == nil
    // The head of a valid call has one of the names.
    hosts = nil
  }

  // MARK: After the last field

  /// Takes the fields, unless all is known of an equal head.
  mutating func fieldsDidEnd(_ fields: FieldCollector) {
    if !likeness.isKnown {
      request.headers = fields.take()
      likeness.repeatedFields = fields.repeated
      likeness.fieldsNumber = fields.number
    }
    // Dialects look at all of their headers, and several times.
    guard !terms.isGRPC || trace.hasOthers, let traceParent = trace.rejoin() else { return }
    likeness.repeatedFields = nil
    request.headers.add(traceParent: traceParent)
  }

  /// Finds the handler for the format that the client names.
  mutating func settleFormat() {
    guard let other = request.method?.inFormat(terms.format) else {
      return terms.formatIsUnknown(for: request.method)
    }
    request.method = other
  }

  /// Records whether the request ended with its head.
  mutating func end(hasNoBody: Bool) { request.hasNoBody = hasNoBody }

  /// A dialect has made a call of the request.
  mutating func settle(as call: borrowing DialectCall, _ outcome: DialectOutcome) {
    self.outcome = outcome
    request.method = call.method
    terms.setFormat(call.subtype)
    switch call.settings {
    case nil: break
    case let settings?: terms.set(settings)
    }
  }

  /// A dialect answers with a page.
  mutating func settle(as page: HTTPPage) { outcome = DialectOutcome(page) }

  /// A dialect refuses the request, or its page does.
  mutating func refuse(
    _ status: StaticString,
    _ message: String,
    header: (name: StaticString, value: String)? = nil
  ) {
    outcome = DialectOutcome(refusing: .http(status: status, message: message, header: header))
  }

  // MARK: What it says

  var method: RPCMethod? { request.method }
  var page: HTTPPage? { outcome?.page }

  /// Contains no headers of gRPC itself, or of the call's own dialect.
  var metadata: HPACKHeaders {
    guard let traceParent = trace.identity else { return plainMetadata }
    var all = plainMetadata
    all.add(traceParent: traceParent)
    return all
  }

  /// The metadata without a `traceparent` that is kept apart.
  var plainMetadata: HPACKHeaders { outcome?.metadata ?? request.headers }

  var isCallOfDialect: Bool { outcome?.isCall ?? false }
  var isTooLarge: Bool { size.isExceeded }
  var hasManyContentTypes: Bool { contentTypeCount > 1 }

  /// Whether the rules for pages of other origins decide the request. Few requests have an origin.
  var isForCrossOrigin: Bool { origin.isNamed && origin.decides(request.headers) }

  /// Whether the answer has headers only.
  var isHead: Bool { !request.isPost && request.otherMethod == "HEAD" }

  /// Whether it is a valid call with a handler, as most requests are. Inlined, so that the caller copies nothing.
  @inline(__always) var isValidCall: Bool {
    guard request.method != nil, terms.areValid, !isTooLarge, !hasManyContentTypes else { return false }
    // What browsers cannot send may have any name.
    if let outcome, outcome.isCall { return outcome.failure == nil && hosts == nil }
    return request.isPost && terms.isGRPC && terms.acceptsTrailers && carriesGRPC
  }

  /// Whether an equal head, with any `traceparent` of that kind, leads to an equal call.
  var isRepeatable: Bool {
    isValidCall && !origin.isNamed && trace.isRepeatable && size.hasRoom(for: SpanIdentity.listSize)
  }

  /// The request of a page.
  func pageRequest(body: [UInt8], peer: PeerIdentity) -> HTTPPage.Request {
    var headers = request.headers
    // It was taken out, because it decides which protocol a call has.
    if !request.contentType.isEmpty {
      headers.add(name: "content-type", value: String(decoding: request.contentType, as: UTF8.self))
    }
    return HTTPPage.Request(
      method: request.httpMethod,
      path: String(decoding: request.path, as: UTF8.self),
      query: request.query.map { String(decoding: $0, as: UTF8.self) },
      headers: headers,
      body: body,
      peer: peer
    )
  }

  /// Adds the headers that let a page of another origin read the response.
  func addCrossOrigin(to headers: HeaderWriter) { origin.addResponse(to: request.headers, into: headers) }
}
