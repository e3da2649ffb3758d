/// The last call on a connection that its protocol recognised by the head alone, so that an equal head leads to an equal
/// call. Clients repeat themselves, and recognising a head again costs far less than asking the protocols.
final class KnownCall {
  private let method: RPCMethod?
  private let contentType: [UInt8]
  private let fields: Int
  let call: DialectCall

  /// `head` is still that of the request, and `fields` identifies its headers.
  init(_ head: borrowing RequestHead, fields: Int, _ call: consuming DialectCall) {
    method = head.method
    contentType = head.request.contentType
    self.fields = fields
    self.call = call
  }

  /// Whether the head is equal to that of the call.
  func has(_ head: borrowing RequestHead) -> Bool {
    head.likeness.repeatedFields == fields && head.request.isPost && head.method === method
      && head.request.contentType == contentType
  }
}
