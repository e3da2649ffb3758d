/// How a whole call stands in its chain: the client's and the server's differ only in which way its parts travel.
struct WholeCallPorts<Request: Sendable, Response: Sendable>: Sendable {
  let eventLoop: any EventLoop
  let type: GRPCCallType
  /// Hands a part of the requests on.
  let sendRequest: @Sendable (GRPCServerRequestPart<Request>, EventLoopPromise<Void>?) -> Void
  /// Hands a part of the responses back.
  let sendResponse: @Sendable (GRPCClientResponsePart<Response>, EventLoopPromise<Void>?) -> Void
  /// Wait until another request, or response, can be handed on.
  let requestRoom: @Sendable () async throws -> Void
  let responseRoom: @Sendable () async throws -> Void
  /// Ask for more to come in, where that side waits to be asked.
  let askForRequests: (@Sendable (Int) -> Void)?
  let askForResponses: (@Sendable (Int) -> Void)?
  /// Ends the rest of the call, when the interceptor has no use for it.
  let abandon: @Sendable () -> Void
}

/// The promises of parts that were taken in, until they go on.
struct PartPromises {
  private var metadata: EventLoopPromise<Void>?
  private var message: EventLoopPromise<Void>?
  private var end: EventLoopPromise<Void>?

  /// Messages of a stream are sent on by the interceptor's code: their promises succeed when they are taken in.
  mutating func take(_ promise: EventLoopPromise<Void>?, of part: SentPart, streams: Bool) {
    guard let promise else { return }
    switch part {
    case .metadata: metadata = promise
    case .message: if streams { promise.succeed() } else { message = promise }
    case .end: end = promise
    }
  }

  mutating func takeMetadata() -> EventLoopPromise<Void>? {
    defer { metadata = nil }
    return metadata
  }

  mutating func takeMessage() -> EventLoopPromise<Void>? {
    defer { message = nil }
    return message
  }

  mutating func takeEnd() -> EventLoopPromise<Void>? {
    defer { end = nil }
    return end
  }
}

extension GRPCServerRequestPart {
  var kind: SentPart {
    switch self {
    case .metadata: .metadata
    case .message: .message
    case .end: .end
    }
  }
}

extension GRPCClientResponsePart {
  var kind: SentPart {
    switch self {
    case .metadata: .metadata
    case .message: .message
    case .end: .end
    }
  }
}
