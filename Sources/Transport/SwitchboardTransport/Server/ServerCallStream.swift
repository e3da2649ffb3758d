// unsafe: state confined to the connection's loop

import SwitchboardCall
import SwitchboardNetwork

/// A call on the server, between an HTTP/2 stream and a handler: its parts, and the events that pass between them.
final class ServerCallStream: StreamEntry, SessionStream, LoopTask, @unchecked Sendable {
  // Sendable because other threads only use `side`, and what is not written after the handler starts: `head`, `flow`,
  // `requestWasCompressed`, `deadline` and `trace`. The rest is only used on the loop.

  /// ```
  ///   head ──> receiving ──request is whole──> handling ──status──> ending ──last frame──> closed
  ///                ├───────────────rejected───────────────────────────^
  ///                └──no gRPC──> refusing ──request is whole──────────┘
  /// ```
  /// From every phase, a reset, a lost connection or a deadline leads on at once.
  enum Phase {
    /// The headers of the request are incomplete.
    case head
    case receiving, refusing, handling, ending, closed
  }

  let connection: ServerConnection
  /// The connection's loop. Stored here, because reading it through the connection would retain the connection.
  let loop: Loop
  @exclusivity(unchecked) var phase = Phase.head
  @exclusivity(unchecked) private(set) var state = StreamState.open
  @exclusivity(unchecked) var head: RequestHead
  @exclusivity(unchecked) var request: InboundRequest
  /// Set before a handler can see it.
  @exclusivity(unchecked) private(set) var flow: InboundFlow?
  /// Not written after the handler starts. In a stream of requests, each message has this property itself.
  @exclusivity(unchecked) var requestWasCompressed = false
  /// The state of a call of another protocol; `nil` for gRPC.
  @exclusivity(unchecked) var dialect: DialectState?
  @exclusivity(unchecked) var response = ServerResponse()
  @exclusivity(unchecked) var handlers = RunningHandlers()
  let side = HandlerSide()
  @exclusivity(unchecked) var timers = ServerCallTimers()
  @exclusivity(unchecked) var deadline: CallDeadline?
  @exclusivity(unchecked) var observation = StreamObservation()
  @exclusivity(unchecked) var trace = ServerTrace()
  /// Whether what follows the call is still to learn of its end, if the stamp says so.
  @exclusivity(unchecked) var isTraced = false

  init(_ connection: ServerConnection, isRefused: Bool, carriesGRPC: Bool = true) {
    self.connection = connection
    loop = connection.loop
    if isRefused { phase = .ending }
    head = RequestHead(
      listSizeLimit: connection.metadataLimit,
      crossOrigin: connection.crossOrigin,
      carriesGRPC: carriesGRPC,
      keepsTraceParent: connection.givesContext,
      hosts: connection.hosts
    )
    request = InboundRequest(limit: connection.requestLimit)
  }

  // MARK: Events of the session

  /// Inlined into the protocol's witness, which the session calls for each field.
  @inline(__always)
  func receiveHeader(_ name: Bytes, _ value: Bytes, _ fields: FieldCollector) {
    guard phase == .head else { return }
    if name.equals(":path") {
      head.addPath(value, of: connection.router.method(for: value))
    } else {
      head.add(name, value, fields)
    }
  }

  func receiveTraceParent(_ identity: SpanIdentity) { head.addLateTraceParent(identity) }

  func receiveHead(_ kept: any KeptHead) {
    // The same kind of stream has kept it. A conditional cast would retain it.
    guard phase == .head, kept is KnownHead else { return }
    let known = unsafeDowncast(kept, to: KnownHead.self)
    head.repeatKnown(known)
    if let call = known.call { connection.knownCall = call }
  }

  var keptHead: (any KeptHead)? {
    phase == .receiving ? KnownHead(head, connection.knownCall?.of(head.outcome)) : nil
  }

  func headersDidEnd(endsStream: Bool, _ fields: FieldCollector) {
    // Trailers end a request and mean nothing to gRPC. The session has checked that this block is trailers.
    guard phase == .head else { return endsStream ? remoteDidEnd() : () }
    phase = .receiving
    if endsStream { state.remoteDidEnd() }
    head.fieldsDidEnd(fields)
    // No dialect is asked what is gRPC's.
    if !head.terms.isGRPC {
      settleDialect()
    } else if !head.likeness.isKnown, !head.terms.format.isUnnamed {
      head.settleFormat()
    }
    if head.method?.streamsRequests ?? false {
      let pipe = MessagePipe(limit: connection.core.options.streamBufferSize)
      flow = InboundFlow(pipe)
    }
    if endsStream {
      if let dialect { requestDidEnd(for: dialect) }
      endOfRequests()
    }
    connection.streamIsReady(self)
  }

  /// Responses have none.
  func takeTraceParent() -> SpanIdentity? { nil }

  func receiveData(_ bytes: UnsafeRawBufferPointer) {
    connection.sawTraffic()
    let credit = gather(bytes.count, credit: receive(bytes))
    connection.withSession { $0.settle(arrived: bytes.count, credit: credit, on: id) }
  }

  func remoteDidEnd() {
    state.remoteDidEnd()
    if let dialect { requestDidEnd(for: dialect) }
    endOfRequests()
    gatheredMore()
    if phase == .receiving || phase == .refusing { connection.streamIsReady(self) }
  }

  func localDidEnd() {
    state.localDidEnd()
    reportSent(.end)
    // The response is complete, so the rest of the request is not needed.
    if !state.hasRemoteEnded { connection.withServerSession { $0.stopRequest(id) } }
  }

  /// The reset that the session sends closes the stream, and `didClose` ends the call.
  func headersWereRefused(_ status: GRPCStatus) {}

  func didClose(_ code: UInt32) {
    let wasEnded = state.hasLocalEnded
    phase = .closed
    // Without headers, it was not a call, or the call failed.
    connection.counters.streamEnded(isWhole: wasEnded, isOk: wasEnded && response.isSuccess)
    if isTraced, trace.stamp.wantsEnd { endTracing(wasEnded ? response.status ?? .ok : .callGone) }
    timers.cancel(on: loop)
    if !wasEnded { side.cancel() }
    let responses = closeForHandler()
    // Interceptors are notified before the handler. Otherwise the end of the handler would end their call first.
    reportClosed(wasEnded ? nil : .callGone)
    if !wasEnded { task?.cancel() }
    handlers.dropTask()
    // Most calls have no streams that could be used late.
    let late = wasEnded && (responses != nil || flow != nil) ? lateUses : nil
    responses?.abort(.callGone)
    responses?.detach(.written, late)
    flow?.pipe.abort(.callGone)
    flow?.pipe.detach(.read, late)
    dropMessages()
    // Streamed requests are gone; a handler still has its one request.
    if flow != nil || handlers.count == 0 { releaseRequest() }
    if handlers.count > 0 {
      areAbandoned(handlers.count)
      if isHandlerCancelled { watchHandler() }
    }
    connection.forget(flow?.takeWithheld() ?? 0)
    stopGathering()
    responseIsGone()
    connection.streamDidClose(self)
  }

  func readBody(into buffer: UnsafeMutableRawBufferPointer) -> BodyRead {
    defer { reportSent() }
    guard let dialect else { return response.body.read(into: buffer) }
    return readBody(into: buffer, for: dialect)
  }

  func takeBorrowed(_ count: Int) -> (MessageBuffer, UnsafeRawBufferPointer)? {
    defer { reportSent() }
    return response.body.takeBorrowed(count)
  }

  private func reportSent() {
    // A long response is traffic while it is being sent, and its reader may send pings to measure the link.
    connection.sawTraffic()
    if response.body.sentCount > 0 {
      connection.counters.sent(response.body.sentCount, at: loop.turnTime)
      if trace.reportsMessages, let tracer = trace.tracer { response.body.report(to: tracer) }
    }
    guard observation.reportsSent else {
      response.body.sentCount = 0
      return
    }
    while response.body.sentCount > 0 {
      response.body.sentCount -= 1
      reportSent(.message)
    }
  }

  func trailers(into headers: HeaderWriter) -> Trailers {
    // Other protocols have no trailers, or have sent them in the body. Pages and refusals have none either.
    dialect == nil && head.terms.isGRPC ? makeTrailers(into: headers) : .none
  }

  func runOnLoop() { handleSignals() }

  // MARK: Requests

  /// Processes bytes of the request, and returns how many bytes the client may send again at once.
  private func receive(_ bytes: UnsafeRawBufferPointer) -> Int {
    guard wantsMessages else { return bytes.count }
    if let dialect { return take(bytes, for: dialect) }
    if let page = head.page { return take(bytes, for: page) }
    return take(bytes)
  }

  func countReceived(_ byteCount: Int) {
    inbound.totals.messages += 1
    if trace.reportsMessages, let tracer = trace.tracer { tracer.messageReceived(byteCount) }
    connection.counters.receivedMessage(at: loop.turnTime)
  }

  /// Ends the stream of requests, once the reader has all of them.
  func endOfRequests() {
    guard phase != .refusing, request.isRead else { return }
    if request.isTruncated { fail(.truncatedMessage) }
    flow?.pipe.finish(request.failure)
  }

  func fail(_ status: GRPCStatus) {
    request.fail(dialect?.failure(status, inbound.fault) ?? status)
    guard head.rejection == nil else { return connection.streamIsReady(self) }
    connection.report(inbound.abuse(status))
    flow?.pipe.finish(status)
    connection.streamIsReady(self)
  }

  // MARK: Starting

  /// Whether its handler, if one is to run, can share a task on the loop with others: the request is whole.
  var canShareTask: Bool {
    phase == .receiving && state.hasRemoteEnded && flow == nil && head.method?.runsOnLoop ?? false
  }

  /// A call that has begun. Its handler is to run, with the one request; a lent one is valid until the connection has
  /// processed its ready streams.
  typealias BegunCall = (handler: MethodHandler, request: SingleMessage)

  /// Goes on by its phase. A handler that is to run gets a task of its own.
  func processReady() {
    switch phase {
    case .receiving:
      guard let (handler, request) = beginIfWhole() else { return }
      starting { request.withBytes { handler.start(self, message: $0) } }
    case .refusing: if let rejection = head.rejection { refuse(rejection) }
    case .handling: if let failure = request.failure { endEarly(failure) }
    case .ending: if dialect?.isBroken == true { giveUp() }
    case .head, .closed: break
    }
    inbound.dropLent()
  }

  /// Goes on with a request that has arrived, if it is whole, up to a handler that is to run with it: that is the caller's.
  func beginIfWhole() -> BegunCall? {
    defer { inbound.dropLent() }
    if let rejection = head.rejection {
      refuse(rejection)
    } else if let page = head.page {
      if state.hasRemoteEnded { start(page) } else { limitRequest() }
    } else if let handler = head.method?.handler {
      if connection.isObserved {
        observe(handler)
        if trace.stamp.isWatched { return beginIfWhole(watched(handler)) }
      }
      return beginIfWhole(handler)
    }
    return nil
  }

  private func beginIfWhole(_ handler: MethodHandler) -> BegunCall? {
    // The timer of a deadline that has passed would fire only after the handler has run.
    if request.failure != nil || head.terms.timeout?.nanoseconds == 0 {
      end(nil, request.failure ?? .requestExpired)
    } else if flow == nil, !state.hasRemoteEnded || !inbound.isEmpty {
      startDeadline()
      // A request that has arrived waits for the connection to have room.
      if state.hasRemoteEnded { stopLimitingRequest() } else { limitRequest() }
      keepLent()
    } else if connection.unread.areTooMany {
      waitForReader()
    } else if flow != nil {
      loop.count(message: 0)
      begin()
      starting { handler.start(self) }
    } else {
      return beginSingle(handler)
    }
    return nil
  }

  /// Runs `start`, which starts the handler, while others can see whose work this is.
  func starting(_ start: () -> Void) {
    let before = loop.activity.begin(head.method?.mark ?? 0)
    start()
    loop.activity.begin(before)
  }

  func keep(_ task: consuming Task<Void, any Error>) {
    if let method = head.method, method.runsOnLoop {
      handlers.keep(task, marked: method.mark, in: loop.activity.tasks)
    } else {
      handlers.keep(task)
    }
  }

  func keepLent() {
    inbound.single.keep()
    dialect?.keep()
  }

  func begin() {
    phase = .handling
    stopLimitingRequest()
    startDeadline()
    flow?.pipe.attach(self)
  }

  func refuse(_ rejection: RequestHead.Rejection, isLate: Bool = false) {
    switch rejection {
    case .status(let status):
      if connection.isObserved, connection.tracer != nil { connection.observe(self, .unknown) }
      if head.isTooLarge { connection.report(.headersTooLarge) }
      end(nil, status)
    case .preflight: answerPreflight()
    case .http(let code, let message, let header):
      if head.isTooLarge { connection.report(.headersTooLarge) }
      // A peer that does not speak gRPC may not understand a response before it has sent its whole request.
      guard state.hasRemoteEnded || isLate else {
        phase = .refusing
        return limitRequest()
      }
      reject(code, message, header: header)
    }
  }
}
