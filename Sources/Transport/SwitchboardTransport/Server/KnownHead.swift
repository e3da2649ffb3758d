import SwitchboardCall

/// What the head of a call says, for calls of the same connection with an equal head.
final class KnownHead: KeptHead {
  let method: RPCMethod?
  let metadata: HPACKHeaders
  /// Identifies the metadata.
  let fieldsNumber: Int
  let terms: CallTerms

  /// `nil` if an equal head may lead to anything else. Called after the last field.
  init?(_ head: borrowing RequestHead) {
    guard head.isRepeatable, let number = head.likeness.fieldsNumber else { return nil }
    method = head.method
    metadata = head.plainMetadata
    fieldsNumber = number
    terms = head.terms
  }

  func value(of name: String) -> String? { metadata.first(name: name) }
}
