// unsafe: touched on its call's loop alone; continuations are taken out by whoever resumes them

import SwitchboardCall

/// The common part of whole-call interceptors on the client and the server.
protocol WholeCallInterceptor: AnyObject, SendableMetatype {
  associatedtype Context: Sendable
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
  /// Makes a call that runs `intercept`.
  func makeCall(
    _ ports: WholeCallPorts<Request, Response>,
    _ context: Context
  ) -> WholeCall<Request, Response> {
    // An interceptor serves one call, which runs entirely on its loop.
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

extension GRPCStatus {
  /// An interceptor that let such calls pass would be no guard of theirs, without a word.
  static func notIntercepted(_ calls: String, by interceptor: AnyObject) -> GRPCStatus {
    let name = "\(type(of: interceptor))"
    return GRPCStatus(code: .internalError, message: "\(name) does not override intercept for \(calls)")
  }

  static let sharedInterceptor = GRPCStatus(
    code: .internalError,
    message: "a whole-call interceptor serves one call: the factory has to make one for each"
  )
}

/// The state of a whole-call interceptor: its current call, and the flow control between it and its neighbors in the
/// chain. Used only on the call's loop, except for `credit`.
final class WholeCallState<Request: Sendable, Response: Sendable> {
  private(set) var call: WholeCall<Request, Response>?
  /// How many streamed messages the application has requested.
  let credit = Credit()
  /// The chain of the call.
  private var chain: ObjectIdentifier?
  private var isOver = false

  /// Registers `gate` with the chain, where streamed messages wait; ends the call when the chain closes. Returns `false` if
  /// the interceptor has served another call, of which it has the state.
  func attach(
    to chain: any SideWorkChain,
    at index: Int,
    gate: ((WholeCall<Request, Response>) -> (any WriterRoom)?)?
  ) -> Bool {
    let identity = ObjectIdentifier(chain as AnyObject)
    if let chain = self.chain { return chain == identity && !isOver }
    self.chain = identity
    let queue: (() -> (any WriterRoom)?)? = gate.map { gate in { self.call.flatMap(gate) } }
    chain.join(at: index, queue: queue) {
      self.isOver = true
      self.begin(nil)
      self.credit.close()
    }
    return true
  }

  /// Begins a call, and ends the previous one.
  func begin(_ call: WholeCall<Request, Response>?) {
    self.call?.close(.callEnded)
    self.call = call
  }
}
