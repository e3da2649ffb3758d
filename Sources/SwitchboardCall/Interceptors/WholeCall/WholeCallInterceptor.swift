/// What interceptors that see calls whole have in common, on either side of a call.
protocol WholeCallInterceptor: ChainedInterceptor {
  associatedtype Request: Sendable
  associatedtype Response: Sendable
  typealias Next = @Sendable (UnaryRequest<Request>) async throws -> UnaryResponse<Response>
  typealias StreamedNext = @Sendable (StreamedRequest<Request>) async throws -> StreamedResponse<Response>

  func intercept(
    _ request: UnaryRequest<Request>,
    context: Context,
    next: Next
  ) async throws -> UnaryResponse<Response>

  func intercept(
    _ request: StreamedRequest<Request>,
    context: Context,
    next: StreamedNext
  ) async throws -> StreamedResponse<Response>
}

extension WholeCallInterceptor {
  /// A call that runs `intercept`.
  func makeCall(
    _ ports: WholeCallPorts<Request, Response>,
    _ context: Context
  ) -> WholeCall<Request, Response> {
    // An interceptor serves one call, on the loop of which all of it runs.
    nonisolated(unsafe) let interceptor = self
    return WholeCall(
      ports,
      unary: { call in
        guard let request = call.request else { throw GRPCStatus.missingRequest }
        let next: Next = { request in try await call.next(unary: request) }
        return try await interceptor.intercept(request, context: context, next: next)
      },
      streamed: { call in
        let next: StreamedNext = { request in try await call.next(streamed: request) }
        return try await interceptor.intercept(call.streamedRequest, context: context, next: next)
      }
    )
  }
}

/// The place of such an interceptor in its chain: the call that it works on, and how it and its neighbours wait for each
/// other. Touched on the call's loop alone, but for `credit`.
final class WholeCallPlace<Request: Sendable, Response: Sendable> {
  private(set) var call: WholeCall<Request, Response>?
  /// How many messages the application wants, where they stream.
  let credit = MessageCredit()
  private var isTaken = false

  /// Tells the chain that what is sent waits at `gate`, where it streams, and ends the call when the chain is closed.
  func take(
    _ index: Int,
    of chain: some InterceptorChain,
    gate: ((WholeCall<Request, Response>) -> InterceptorGate?)?
  ) {
    guard !isTaken else { return }
    isTaken = true
    let sideWork = chain.sideWork ?? SideWork()
    chain.sideWork = sideWork
    sideWork.whenClosed {
      self.begin(nil)
      self.credit.close()
    }
    guard let gate else { return }
    sideWork.gates.add(at: index) { self.call.flatMap(gate) }
  }

  /// Begins a call, and ends the one before it.
  func begin(_ call: WholeCall<Request, Response>?) {
    self.call?.close(.callEnded)
    self.call = call
  }
}

extension InterceptorChain {
  /// Waits until another message can be sent to the place at `index`.
  func room(at index: Int) async throws {
    try await eventLoop.submit { try self.gate(at: index) }.waitUntilWritable()
  }
}
