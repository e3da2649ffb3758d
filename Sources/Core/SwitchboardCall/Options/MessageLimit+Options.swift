extension MessageLimit {
  /// The limit of a response: that of the call, or else of the channel.
  package static func response(_ options: CallOptions?, orOfChannel byteCount: Int) -> MessageLimit {
    guard let own = options?.responseSizeLimit else { return MessageLimit(byteCount, .responseSizeOfChannel) }
    return MessageLimit(own, .responseSizeOfCall)
  }
}
