/// The executors that one interceptor names.
@frozen
@usableFromInline
struct InterceptorExecutors: Sendable {
  @usableFromInline let requests: InterceptorExecutor?
  @usableFromInline let responses: InterceptorExecutor?

  @inlinable
  init(requests: InterceptorExecutor?, responses: InterceptorExecutor?) {
    self.requests = requests
    self.responses = responses
  }

  @inlinable
  var areNamed: Bool { requests != nil || responses != nil }
}
