// What a caller of one response makes of the parts: a result, once.
extension Place {
  /// The result, when this part brings it.
  @inlinable
  func take<Response>(
    _ part: GRPCClientResponsePart<Response>
  ) -> Value where Value == Result<Response, GRPCStatus>? {
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
