import SwitchboardCall

/// What the head of a call says, for calls of the same connection with an equal head.
final class KnownHead: KeptHead {
  let method: RPCMethod?
  let metadata: HPACKHeaders
  /// Identifies the metadata.
  let fieldsNumber: Int
  let terms: CallTerms
  /// The call that a dialect has made of the head, which is not gRPC's.
  let call: KnownCall?

  /// `nil` if an equal head may lead to anything else. Called after the last field, with what is known of the dialect's call.
  init?(_ head: borrowing RequestHead, _ call: KnownCall?) {
    guard head.isRepeatable, head.isCallOfDialect == (call != nil), let number = head.likeness.fieldsNumber
    else {
      return nil
    }
    method = head.method
    metadata = head.request.headers
    self.call = call
    fieldsNumber = number
    terms = head.terms
  }

  func value(of name: String) -> String? { metadata.first(name: name) }
}
