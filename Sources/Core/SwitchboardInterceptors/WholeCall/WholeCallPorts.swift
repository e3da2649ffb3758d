import SwitchboardCall

/// Connects a whole call to its chain. Client and server differ only in the direction of the parts.
struct WholeCallPorts<Request: Sendable, Response: Sendable>: Sendable {
  let eventLoop: any EventLoop
  let type: GRPCCallType
  /// The context of the tasks of the call, if it has one.
  let context: @Sendable () -> (any ContextSource)?
  /// The status of the call for an error that the interceptor threw.
  let status: @Sendable (any Error) -> GRPCStatus
  /// Passes on a part of the requests.
  let sendRequest: @Sendable (GRPCServerRequestPart<Request>, EventLoopPromise<Void>?) -> Void
  /// Passes back a part of the responses.
  let sendResponse: @Sendable (GRPCClientResponsePart<Response>, EventLoopPromise<Void>?) -> Void
  /// Wait until another request, or response, can be passed on.
  let requestRoom: @Sendable () async throws -> Void
  let responseRoom: @Sendable () async throws -> Void
  /// Requests more incoming messages, if the chain delivers them on request.
  let demandRequests: (@Sendable (Int) -> Void)?
  let demandResponses: (@Sendable (Int) -> Void)?
  /// Ends the rest of the call, which the interceptor does not need.
  let abandon: @Sendable () -> Void
}

/// The promises of collected parts, until the parts are passed on.
struct PartPromises {
  private var metadata: EventLoopPromise<Void>?
  private var message: EventLoopPromise<Void>?
  private var end: EventLoopPromise<Void>?

  /// Takes a part's promise. Those of streamed messages succeed at once, because the interceptor's own code sends the
  /// messages on.
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

extension GRPCServerResponsePart {
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
