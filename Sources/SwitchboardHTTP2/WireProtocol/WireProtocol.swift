import SwitchboardCall

/// A protocol in which a server answers requests, besides gRPC itself: gRPC-Web, Connect, REST, plain pages.
///
/// A server has one of each, asks them in order for every request that is not gRPC, and the first that knows a request
/// decides. gRPC's own calls never come here, and cost nothing more because of it.
///
/// ```
///   request's head ──> accept ──┬─ .call(WireCall) ──> interceptors and the handler, as with gRPC
///                               ├─ .page(HTTPPage) ──> one bounded request, one answer
///                               ├─ .refuse ──────────> an HTTP status without a body
///                               └─ nil ──────────────> the next protocol
/// ```
/// What a call's bytes look like is the business of its `WireExchange`, which `accept` makes for it. Limits, deadlines,
/// cancellation, interceptors and observers are the same as gRPC's, because they are beneath this interface.
///
/// Another module adds one with `ServerOptions.wireProtocols`.
package protocol WireProtocol: Sendable {
  /// Decides about a request whose header section is complete; its body comes later. On the connection's loop.
  func accept(_ request: borrowing WireRequest, _ methods: RPCMethods) -> WireDecision?
}

/// What becomes of a request. Like the call in it, it is moved from where it is made to the stream, and never copied.
package enum WireDecision: ~Copyable {
  /// A call of a method.
  case call(WireCall)
  /// A plain HTTP answer.
  case page(HTTPPage)
  /// An HTTP status, with the HTTP methods that are allowed if another one is the reason, and words for people.
  case refuse(status: StaticString, message: StaticString, allowed: StaticString? = nil)
}

/// A request as a call of a method.
package struct WireCall: ~Copyable {
  /// Whom it calls, in the format `subtype`; `nil` fails the call with `failure`.
  package var method: RPCMethod?
  /// The format of the messages that the exchange gives and takes.
  package var subtype: ContentSubtype
  /// How the bytes become messages, and messages bytes.
  package var exchange: any WireExchange
  /// What the headers say in other words than gRPC's; `nil` if they are gRPC's own (`grpc-timeout`, `grpc-encoding`).
  package var settings: WireSettings?
  /// The call fails with this before a handler sees it. The exchange says so in the protocol's form.
  package var failure: GRPCStatus?

  package init(
    _ method: consuming RPCMethod?,
    _ subtype: consuming ContentSubtype,
    _ exchange: consuming any WireExchange,
    settings: consuming WireSettings? = nil,
    failure: consuming GRPCStatus? = nil
  ) {
    self.method = method
    self.subtype = subtype
    self.exchange = exchange
    self.settings = settings
    self.failure = failure
  }
}

/// What the headers of a request say that a transport needs.
package struct WireSettings: ~Copyable {
  /// How long the client waits; `nil` leaves it to `grpc-timeout`.
  package var timeout: GRPCTimeout?
  /// How the request's messages are compressed; `nil` if the server knows no such compression, which fails the call.
  package var encoding: MessageCompression? = MessageCompression.none
  /// What responses may be compressed with.
  package var accepted = AcceptedCompressions()
  /// What interceptors and the handler see: the headers without the protocol's own.
  package var metadata = HPACKHeaders()

  package init() {}
}
