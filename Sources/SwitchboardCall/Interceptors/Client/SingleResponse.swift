/// What a caller of one response makes of the parts: a result, once.
@usableFromInline
final class SingleResponse<Response: Sendable>: Place<Result<Response, GRPCStatus>?>, @unchecked Sendable {
  // Sendable holds as it does for a place.
  @usableFromInline let caller: UnsafeContinuation<Response, any Error>

  @inlinable
  init(_ caller: UnsafeContinuation<Response, any Error>) {
    self.caller = caller
    super.init(nil)
  }

  /// Gives the caller the result, when this part brings it.
  @inlinable
  func resume(with part: GRPCClientResponsePart<Response>) {
    switch take(part) {
    case nil: break
    case .success(let response): caller.resume(returning: response)
    case .failure(let status): caller.resume(throwing: status)
    }
  }
}

extension Place {
  /// The result, when this part brings it.
  @inlinable
  final func take<Response>(
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
