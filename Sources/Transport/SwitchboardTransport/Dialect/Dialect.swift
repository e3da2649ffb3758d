import SwitchboardCall

/// A protocol other than gRPC in which a server answers requests: gRPC-Web, Connect, REST, plain pages.
///
/// A server has one instance of each and tries them in order for every request that is not gRPC; the first that
/// recognizes the request decides. gRPC's own calls do not pass through here, so they cost nothing more.
///
/// ```
///   request's head ──> accept ──┬─ .call(DialectCall) ──> interceptors and the handler, as with gRPC
///                               ├─ .page(HTTPPage) ──> one bounded request, one answer
///                               ├─ .refuse ──────────> an HTTP status, and why
///                               └─ nil ──────────────> the next protocol
/// ```
/// The wire format of a call is determined by its `DialectExchange`, which `accept` makes. Limits, deadlines,
/// cancellation, interceptors and observers are the same as for gRPC, because they are beneath this interface.
///
/// Other modules add protocols with `ServerOptions.dialects`.
package protocol Dialect: AnyObject, Sendable {
  /// Decides about a request whose header section is complete; the body comes later. Called on the connection's loop.
  func accept(_ request: borrowing DialectRequest, _ methods: RPCMethods) -> DialectDecision?
}

/// The decision about a request. Like the call in it, it is moved to the stream and never copied.
package enum DialectDecision: ~Copyable {
  /// A call of a method.
  case call(DialectCall)
  /// A plain HTTP answer.
  case page(HTTPPage)
  /// An HTTP status and a message, and a header that says what is allowed instead, such as `allow`.
  case refuse(status: StaticString, message: String, header: (name: StaticString, value: String)? = nil)
}

/// A request as a call of a method.
package struct DialectCall: ~Copyable {
  /// The method in the format `subtype`; `nil` fails the call with `failure`.
  package var method: RPCMethod?
  /// The format of the messages on the exchange's gRPC side.
  package var subtype: ContentSubtype
  /// Converts bytes to messages, and messages to bytes.
  package var exchange: any DialectExchange
  /// The settings from the protocol's own headers; `nil` if it uses gRPC's (`grpc-timeout`, `grpc-encoding`).
  package var settings: DialectSettings?
  /// If set, the call fails with this status before its handler runs. The exchange writes it in the protocol's form.
  package var failure: GRPCStatus?
  /// Whether a request with an equal head is an equal call, with the same exchange.
  package var isRepeatable: Bool

  package init(
    _ method: consuming RPCMethod?,
    _ subtype: consuming ContentSubtype,
    _ exchange: consuming any DialectExchange,
    settings: consuming DialectSettings? = nil,
    failure: consuming GRPCStatus? = nil,
    isRepeatable: Bool = false
  ) {
    self.method = method
    self.subtype = subtype
    self.exchange = exchange
    self.settings = settings
    self.failure = failure
    self.isRepeatable = isRepeatable
  }
}

/// The settings in the headers of a request that a transport needs.
package struct DialectSettings: ~Copyable {
  /// The client's timeout; `nil` uses `grpc-timeout`.
  package var timeout: GRPCTimeout?
  /// The compression of the request's messages; `nil` for an unknown one, which fails the call.
  package var encoding: MessageCompression? = MessageCompression.none
  /// The compressions that the client accepts.
  package var accepted = AcceptedCompressions()
  /// The metadata for interceptors and the handler: the headers without the protocol's own; `nil` if there are none of
  /// these.
  package var metadata: HPACKHeaders?

  package init() {}
}
