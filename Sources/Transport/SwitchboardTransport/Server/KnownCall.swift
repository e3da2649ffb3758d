import SwitchboardText

/// The last call on a connection that its protocol recognized by the head alone, so that an equal head leads to an equal
/// call. Clients repeat themselves, and recognizing a head again costs far less than asking the protocols.
final class KnownCall {
  let method: RPCMethod?
  let target: [UInt8]
  /// The HTTP method, unless it is POST.
  let otherMethod: String?
  let contentType: [UInt8]
  private let hasNoBody: Bool
  private let fields: Int
  let call: DialectCall
  let outcome: DialectOutcome

  /// The most bytes of a target and a content type that a connection keeps.
  private static let most = 256

  /// Whether the head is small enough.
  static func canKeep(_ head: borrowing RequestHead) -> Bool {
    head.request.otherTarget.count + head.request.contentType.count <= most
  }

  /// `head` is still that of the request, and `fields` identifies its headers.
  init(_ head: borrowing RequestHead, fields: Int, _ call: consuming DialectCall) {
    method = head.method
    target = head.request.otherTarget
    otherMethod = head.request.isPost ? nil : head.request.httpMethod
    contentType = head.request.contentType
    hasNoBody = head.request.hasNoBody
    self.fields = fields
    outcome = DialectOutcome(call)
    self.call = call
  }

  private func hasMethod(_ request: borrowing DialectRequest) -> Bool {
    if let otherMethod {
      !request.isPost && request.httpMethod.isExactly(otherMethod)
    } else {
      request.isPost
    }
  }

  /// Whether the head is equal to that of the call.
  func has(_ head: borrowing RequestHead) -> Bool {
    head.likeness.repeatedFields == fields && head.method === method && head.request.hasNoBody == hasNoBody
      && hasMethod(head.request) && head.request.otherTarget == target
      && head.request.contentType == contentType
  }

  /// The same, if this is what its dialect has made of the head. Calls of others may have the same exchange.
  func of(_ outcome: DialectOutcome?) -> KnownCall? { self.outcome === outcome ? self : nil }
}
