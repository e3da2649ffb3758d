/// What a caller of one response makes of the parts: a result, once.
@usableFromInline
final class SingleResponse<Response: Sendable> {
  @exclusivity(unchecked) @usableFromInline var response: Response?
  @exclusivity(unchecked) @usableFromInline var hasSeveral = false
  @usableFromInline let waiting: UnsafeContinuation<Response, any Error>?

  /// With a caller that waits already, for `resume`.
  @inlinable
  init(_ waiting: UnsafeContinuation<Response, any Error>? = nil) {
    self.waiting = waiting
  }

  /// The result, when this part brings it.
  @inlinable
  func take(_ part: GRPCClientResponsePart<Response>) -> Result<Response, GRPCStatus>? {
    switch part {
    case .metadata:
      return nil
    case .message(let message):
      hasSeveral = response != nil
      response = message
      return nil
    case .end(let status, _):
      guard status.isOk else { return .failure(status) }
      guard !hasSeveral else { return .failure(.tooManyMessages) }
      return response.map { .success($0) } ?? .failure(.missingResponse)
    }
  }

  /// Gives the caller the result, when this part brings it.
  @inlinable
  func resume(with part: GRPCClientResponsePart<Response>) {
    if let result = take(part) { waiting?.resume(with: result.mapError { $0 }) }
  }
}
