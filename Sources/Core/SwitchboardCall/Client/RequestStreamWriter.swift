import Synchronization

/// Sends the requests of a streaming call.
///
/// The requests end with `finish`. If the last copy of the writer is released without it, the call ends with `CANCELLED`:
/// the server must not take what it has for everything.
///
/// ```swift
/// let call = client.makeCollectCall()
/// try await call.requestStream.send(.with { $0.text = "one" })
/// call.requestStream.finish()
/// print(try await call.response.text)
/// ```
@frozen
public struct RequestStreamWriter<Request: Sendable>: Sendable {
  @usableFromInline
  @frozen
  enum Sink: Sendable {
    /// Straight to the transport.
    case bytes(MessagePipe, @Sendable (Request) throws -> MessageBuffer)
    /// Through a chain of interceptors; the closure ends the requests.
    case parts(PartWriter<Request>, @Sendable () -> Void)
    /// The call has all its requests.
    case ended
  }

  @usableFromInline let sink: Sink
  /// `nil` if the call has all its requests.
  @usableFromInline package let owner: RequestsOwner?

  /// Writes the requests of `call`; an encoding error ends the call.
  @inlinable
  init(
    _ call: any ByteCall,
    _ pipe: MessagePipe,
    encode: @escaping @Sendable (Request) throws -> MessageBuffer
  ) {
    let owner = RequestsOwner(call, pipe)
    self.owner = owner
    sink = .bytes(pipe) { request in
      try GRPCStatus.encoding(failed: owner.fail) { try encode(request) }
    }
  }

  /// A writer for a call that has all its requests.
  @inlinable
  init() {
    sink = .ended
    owner = nil
  }

  @inlinable
  init<Response>(_ chain: ClientChain<Request, Response>) {
    owner = RequestsOwner(chain, nil)
    sink = .parts(chain.makeWriter()) { chain.finishRequests() }
  }

  /// Sends a message, and returns when there is room for another. Throws if the call has ended.
  ///
  /// `MessageMetadata` describes `compress` and `flush`.
  @inlinable
  nonisolated(nonsending) public func send(
    _ request: Request,
    compress: Bool = true,
    flush: Bool = true
  ) async throws {
    do {
      switch sink {
      case .bytes(let pipe, let encode):
        var message = try encode(request)
        message.mayCompress = compress
        try await pipe.write(message, flush: flush)
      case .parts(let writer, _):
        try await writer.write(request, MessageMetadata(compress: compress, flush: flush))
      case .ended:
        throw GRPCStatus.writeAfterEnd
      }
    } catch is CancellationError {
      throw GRPCStatus.waitCancelled
    }
  }

  /// Sends every message of a sequence.
  @inlinable
  nonisolated(nonsending) public func send(contentsOf requests: some Sequence<Request>) async throws {
    for request in requests { try await send(request) }
  }

  /// Ends the requests.
  public func finish() {
    owner?.finish()
    switch sink {
    case .bytes(let pipe, _): pipe.finish()
    case .parts(let writer, let finish): if writer.finish() { finish() }
    case .ended: break
    }
  }

  /// Ends the call, unless the requests have ended.
  package func drop() { owner?.drop() }

  /// Whether the call has ended, so that nothing can be sent any more. Behind interceptors, which may not have seen the end
  /// yet, this is known once a request could not be sent.
  package var isCutOff: Bool {
    switch sink {
    case .bytes(let pipe, _): pipe.hasFailed
    case .parts(let writer, _): writer.isCutOff.load(ordering: .relaxed)
    case .ended: false
    }
  }

  /// Ends the call because a request could not be written, or because the sequence of requests threw, unless the call has
  /// already ended and reports its own status.
  @usableFromInline
  func fail(_ error: any Error, of call: any ByteCall) {
    owner?.finish()
    if case .bytes(let pipe, _) = sink, pipe.hasEnded { return }
    call.cancel(error is CancellationError ? .cancelledByCaller : .requestsThrew(error))
  }
}

/// Ends a call whose requests nobody can finish any more.
@usableFromInline
package final class RequestsOwner: Sendable {
  private let call: any ByteCall
  private let pipe: MessagePipe?
  private let hasFinished = Atomic(false)
  /// Whether the requests have ended, or the call has.
  package var isFinished: Bool { hasFinished.load(ordering: .relaxed) }

  /// `pipe` has the requests, unless they pass interceptors.
  @usableFromInline
  init(_ call: any ByteCall, _ pipe: MessagePipe?) {
    self.call = call
    self.pipe = pipe
  }

  deinit { drop() }

  func finish() { hasFinished.store(true, ordering: .relaxed) }

  func drop() {
    if !isFinished { fail(.requestsDropped) }
  }

  @usableFromInline
  package func fail(_ status: GRPCStatus) {
    finish()
    // First, so that the server does not mistake the requests for complete.
    call.cancel(status)
    pipe?.abort(status)
  }
}

extension GRPCStatus {
  /// What the server has of the requests is not all, so the call must not succeed. Its caller gets the error back as the
  /// cause. An error that determines a status is one, as for handlers: it may be that of another call.
  static func requestsThrew(_ error: any Error) -> GRPCStatus {
    .determined(by: error)
      ?? GRPCStatus(
        code: .cancelled,
        message: "the caller's sequence of requests threw an error, which cancelled the call: \(error)",
        cause: error
      )
  }

  package static let requestsDropped = GRPCStatus(
    code: .cancelled,
    message:
      "the stream of requests was released without finish(), so that the server could not tell whether it is complete"
  )
}

extension RequestStreamWriter {
  @available(*, unavailable, renamed: "send(_:)")
  public func write(_ request: Request) async throws {}

  @available(*, unavailable, renamed: "finish()")
  public func closeSend() {}
}
