extension ResponseHandover {
  /// The result, when this part brings it: a caller of one response takes no other number of them.
  @inlinable
  func take(_ part: GRPCClientResponsePart<Message>) -> Result<Message, GRPCStatus>? {
    switch part {
    case .metadata:
      return nil
    case .message(let message):
      value = value == nil ? .success(message) : .failure(.tooManyMessages)
      return nil
    case .end(let status, _):
      guard status.isOk else { return .failure(status) }
      guard let result = value else { return .failure(.missingResponse) }
      value = nil
      return result
    }
  }
}
