import CallTestSupport
import SwitchboardCall

/// The actions of handlers, as the test scripts them, and their observations, as the model expects them. Used on the
/// loop.
final class Script: @unchecked Sendable {
  // Sendable because it is used on one loop.

  enum Step: Sendable {
    case read, sendHeaders
    case write([UInt8])
    case finish(GRPCStatus.Code)
  }

  /// A running handler.
  private struct Handler {
    var steps: [Step] = []
    var waiter: UnsafeContinuation<Step, Never>?
  }

  var models: [ServerCallModel] = []
  var violation: Violation?
  private var handlers: [Int: Handler] = [:]
  private(set) var holders: [Int: HoldingInterceptor] = [:]
  /// Whether the next interceptor holds back the first parts.
  var newHoldersHold = false
  /// Whether the next interceptor answers the call at its first part.
  var newHoldersAnswer = false
  /// The number of calls of which any part is still in memory.
  private(set) var keptCount = 0

  /// An object that lives as long as any part of a call.
  final class Mark: @unchecked Sendable {
    // Sendable because calls are released on the loop.
    private let script: Script

    init(_ script: Script) {
      self.script = script
      script.keptCount += 1
    }

    deinit { script.keptCount -= 1 }
  }

  fileprivate enum MarkKey: UserInfoKey { typealias Value = Mark }

  func reset() {
    models = []
    violation = nil
    handlers = [:]
    holders = [:]
  }

  /// The number of handlers that have not returned.
  var runningCount: Int { handlers.count }

  func isRunning(_ token: Int) -> Bool { handlers[token] != nil }

  func dropHolders() { holders = [:] }

  func add(_ holder: HoldingInterceptor, _ token: Int) { holders[token] = holder }

  /// Appends an action to the script of a call's handler.
  func enqueue(_ token: Int, _ step: Step) {
    guard var handler = handlers[token] else { return }
    defer { handlers[token] = handler }
    guard let waiter = handler.waiter else { return handler.steps.append(step) }
    handler.waiter = nil
    waiter.resume(returning: step)
  }

  /// Whether a handler waits for its next action.
  func isWaiting(_ token: Int) -> Bool { handlers[token]?.waiter != nil }

  func note(_ token: Int, _ change: (inout ServerCallModel) throws(Violation) -> Void) {
    guard let index = models.firstIndex(where: { $0.token == token }) else {
      violation = violation ?? Violation("a handler runs for a call that nobody made")
      return
    }
    do throws(Violation) { try change(&models[index]) } catch { violation = violation ?? error }
  }

  // MARK: The handlers

  private func next(_ token: Int) async -> Step {
    if var handler = handlers[token], !handler.steps.isEmpty {
      let step = handler.steps.removeFirst()
      handlers[token] = handler
      return step
    }
    return await withUnsafeContinuation { handlers[token]?.waiter = $0 }
  }

  /// The body of every handler: returns if the call should succeed.
  fileprivate func run(
    _ context: ServerCallContext,
    first: [UInt8]? = nil,
    read: () async throws -> [UInt8]?,
    write: ([UInt8]) async throws -> Void
  ) async throws {
    let token = context.headers.first(name: "x-token").flatMap { Int($0) } ?? -1
    note(token) { (model: inout ServerCallModel) throws(Violation) in
      try model.start(context.headers, hasDeadline: context.deadline != nil)
    }
    if let first { note(token) { (model: inout ServerCallModel) throws(Violation) in try model.read(first) } }
    handlers[token] = Handler()
    defer {
      handlers[token] = nil
      note(token) { $0.hasReturned = true }
    }
    try await withTaskCancellationHandler {
      do {
        try await perform(token, context, read: read, write: write)
      } catch {
        note(token) { $0.finish(GRPCStatus(describing: error).code) }
        throw error
      }
    } onCancel: {
      note(token) { $0.isNotified = true }
    }
  }

  private func perform(
    _ token: Int,
    _ context: ServerCallContext,
    read: () async throws -> [UInt8]?,
    write: ([UInt8]) async throws -> Void
  ) async throws {
    while true {
      switch await next(token) {
      case .read:
        do {
          if let message = try await read() {
            note(token) { (model: inout ServerCallModel) throws(Violation) in try model.read(message) }
          } else {
            note(token) { (model: inout ServerCallModel) throws(Violation) in try model.readEnd() }
          }
        } catch {
          note(token) { (model: inout ServerCallModel) throws(Violation) in try model.readFailed() }
          throw error
        }
      case .sendHeaders: context.sendInitialMetadata()
      case .write(let message):
        note(token) { $0.write(message) }
        try await write(message)
      case .finish(.ok):
        note(token) { $0.finish(.ok) }
        return
      case .finish(let code):
        throw GRPCStatus(code: code, message: "as the script says")
      }
    }
  }
}

/// A service with all kinds of methods, with and without an interceptor that holds parts back.
struct ScriptedService: CallHandlerProvider {
  let script: Script
  var serviceName: String { "s" }

  /// The response of a unary call.
  static let answer: [UInt8] = [4, 2]

  private typealias Chain = @Sendable () -> [ServerInterceptor<[UInt8], [UInt8]>]

  var methodHandlers: [MethodHandler] {
    let chain: Chain = { [script] in [HoldingInterceptor(script)] }
    return makeHandlers("", nil) + makeHandlers("I", chain)
  }

  private func makeHandlers(_ suffix: String, _ chain: Chain?) -> [MethodHandler] {
    let script = script
    func method(_ name: String, _ type: GRPCCallType) -> MethodDescriptor {
      MethodDescriptor(service: "s", method: name + suffix, type: type)
    }
    return [
      method("U", .unary).bytes.unaryHandler(interceptors: chain) {
        request,
        context in
        try await script.run(context, first: request, read: { nil }, write: { _ in })
        return script.answer(context)
      },
      method("S", .serverStreaming).bytes.serverStreamingHandler(interceptors: chain) {
        request,
        responses,
        context in
        try await script.run(context, first: request, read: { nil }, write: { try await responses.send($0) })
      },
      method("C", .clientStreaming).bytes.clientStreamingHandler(interceptors: chain) { requests, context in
        var requests = requests.makeAsyncIterator()
        try await script.run(context, read: { try await requests.next() }, write: { _ in })
        return script.answer(context)
      },
      method("B", .bidirectionalStreaming).bytes.bidirectionalStreamingHandler(interceptors: chain) {
        requests,
        responses,
        context in
        var requests = requests.makeAsyncIterator()
        try await script.run(
          context,
          read: { try await requests.next() },
          write: { try await responses.send($0) }
        )
      },
    ]
  }
}

extension Script {
  /// The response of a call with a single one.
  fileprivate func answer(_ context: ServerCallContext) -> [UInt8] {
    let token = context.headers.first(name: "x-token").flatMap { Int($0) } ?? -1
    note(token) { $0.write(ScriptedService.answer) }
    return ScriptedService.answer
  }
}

/// Forwards parts, or holds them back until it is released, in order; and may answer a call itself.
final class HoldingInterceptor: ServerInterceptor<[UInt8], [UInt8]>, PartHolder {
  private let script: Script
  private var isHolding = false
  private let answersAtOnce: Bool
  private var received: [GRPCServerRequestPart<[UInt8]>] = []
  private var sent: [(part: GRPCServerResponsePart<[UInt8]>, promise: EventLoopPromise<Void>?)] = []
  private var context: ServerInterceptorContext<[UInt8], [UInt8]>?
  private var token = -1

  init(_ script: Script) {
    self.script = script
    isHolding = script.newHoldersHold
    answersAtOnce = script.newHoldersAnswer
  }

  func answer() {
    guard let context else { return }
    script.note(token) { $0.isAnswered = true }
    context.send(.end(GRPCStatus(code: ServerCallModel.answerCode), HPACKHeaders()), promise: nil)
  }

  func hold() { isHolding = true }

  func release() {
    isHolding = false
    guard let context else { return }
    while !received.isEmpty { context.receive(received.removeFirst()) }
    while !sent.isEmpty {
      let next = sent.removeFirst()
      context.send(next.part, promise: next.promise)
    }
  }

  override func receive(
    _ part: GRPCServerRequestPart<[UInt8]>,
    context: ServerInterceptorContext<[UInt8], [UInt8]>
  ) {
    self.context = context
    if case .metadata(let headers) = part, let token = headers.first(name: "x-token").flatMap({ Int($0) }) {
      self.token = token
      script.add(self, token)
      context.userInfo[Script.MarkKey.self] = Script.Mark(script)
      if answersAtOnce { return answer() }
    }
    if isHolding { received.append(part) } else { context.receive(part) }
  }

  override func send(
    _ part: GRPCServerResponsePart<[UInt8]>,
    promise: EventLoopPromise<Void>?,
    context: ServerInterceptorContext<[UInt8], [UInt8]>
  ) {
    self.context = context
    if isHolding { sent.append((part, promise)) } else { context.send(part, promise: promise) }
  }
}
