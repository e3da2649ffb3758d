// unsafe: state confined to the connection's loop
// state: a call's head, requests, responses and observation are not yet parts of their own

import SwitchboardCall
import SwitchboardNetwork
import Synchronization

/// A call on the server, between an HTTP/2 stream and a handler.
final class ServerCallStream: StreamEntry, SessionStream, LoopTask, @unchecked Sendable {
  // Sendable because other threads only use `shared`, which has a lock, and the atomics. `head`, `deadline`, `tracer` and
  // `stamp` are not written after the handler starts. The rest is only used on the loop.

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
  @exclusivity(unchecked) var body = OutboundBody(endsWithStatus: true)
  @exclusivity(unchecked) var inbound: InboundMessages
  /// Set before a handler can see it.
  @exclusivity(unchecked) private(set) var flow: InboundFlow?
  /// Why the request failed. If set, the rest of the request is ignored.
  @exclusivity(unchecked) private(set) var failure: GRPCStatus?
  /// The state of a call of another protocol; `nil` for gRPC.
  @exclusivity(unchecked) var dialect: DialectState?
  /// The body of a request that a page answers.
  @exclusivity(unchecked) var pageBody: [UInt8] = []
  /// Not written after the handler starts. In a stream of requests, each message has this property itself.
  @exclusivity(unchecked) var requestWasCompressed = false
  /// The number of the call's handlers that have not returned.
  @exclusivity(unchecked) var runningHandlers = 0
  @exclusivity(unchecked) var headersSent = false
  /// How the call ended; `nil` if it succeeded without a message.
  @exclusivity(unchecked) var status: GRPCStatus?
  @exclusivity(unchecked) var trailerMetadata: HPACKHeaders?
  @exclusivity(unchecked) var task: Task<Void, any Error>?
  /// The address of a task on the loop whose handler has suspended, or zero.
  @exclusivity(unchecked) private var knownTask: UInt = 0
  @exclusivity(unchecked) var timer: LoopTimer?
  @exclusivity(unchecked) var requestTimer: LoopTimer?
  @exclusivity(unchecked) var observation = StreamObservation()
  @exclusivity(unchecked) var deadline: CallDeadline?
  /// Follows the call, if it needs that. It remains set when the call has ended, for a handler on another thread.
  @exclusivity(unchecked) var tracer: (any ServerCallTracer)?
  @exclusivity(unchecked) var stamp = CallStamp()
  /// What the tracer wants: to ask it each time would retain it.
  @exclusivity(unchecked) var reportsMessages = false
  /// Whether the call is observed: the observer learns of its end, if the stamp says so.
  @exclusivity(unchecked) var isTraced = false
  /// The method that the observer was told. `head` retains it, unless it is the unknown one.
  @exclusivity(unchecked) var tracedMethod: Unmanaged<MethodDescriptor>?
  /// Whether the tracer makes a context for the handler.
  @exclusivity(unchecked) var hasContext = false

  let signals = Atomic(0)
  let cancelled = Atomic(false)
  let shared = Locked(Shared())
  /// Whether a handler has chosen anything that the end of the call needs from `shared`. Most choose nothing.
  let hasChoices = Atomic(false)

  /// The state that handlers use from any thread.
  struct Shared: Sendable {
    var headers: HPACKHeaders?
    var trailers: HPACKHeaders?
    var compression = MessageCompression.none
    var outcome: Outcome?
    var responses: MessagePipe?
    var userInfo: UserInfo?
    var load: (any CallLoad)?
    /// The context of the handler, if it was asked for.
    var context: (any ServerCallTracer & ContextSource)?
    /// What interceptors have made of the headers, for the context.
    var changedHeaders: HPACKHeaders?
    /// Whether everything that the handler still sends is ignored.
    var isClosed = false
  }

  /// The result that a handler on another thread ends its call with. It is an object because few calls need one.
  final class Outcome: Sendable {
    let message: MessageBuffer?
    let status: GRPCStatus?

    init(_ message: MessageBuffer?, _ status: GRPCStatus?) {
      self.message = message
      self.status = status
    }
  }

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
    inbound = InboundMessages(deframer: Deframer(limit: .request(connection.requestLimit)))
  }

  // MARK: Events of the session

  /// Inlined into the protocol's witness, which the session calls for each field.
  @inline(__always)
  func receiveHeader(_ name: Bytes, _ value: Bytes, _ fields: FieldCollector) {
    guard phase == .head else { return }
    if name.equals(":path") {
      head.take(connection.router.method(for: value), for: value)
    } else {
      head.add(name, value, fields)
    }
  }

  func receiveTraceParent(_ identity: SpanIdentity) { head.take(identity) }

  func receiveHead(_ kept: any KeptHead) {
    // The same kind of stream has kept it. A conditional cast would retain it.
    if phase == .head, kept is KnownHead { head.take(unsafeDowncast(kept, to: KnownHead.self)) }
  }

  var keptHead: (any KeptHead)? { phase == .receiving ? KnownHead(head) : nil }

  func headersDidEnd(endsStream: Bool, _ fields: FieldCollector) {
    // Trailers end a request and mean nothing to gRPC. The session has checked that this block is trailers.
    guard phase == .head else { return endsStream ? remoteDidEnd() : () }
    phase = .receiving
    if endsStream { state.remoteDidEnd() }
    if !head.isKnown {
      head.end(fields)
      if head.isForGRPC {
        if head.namesFormat { head.settleFormat() }
      } else {
        settleDialect()
      }
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
    connection.settle(arrived: bytes.count, credit: receive(bytes), on: id)
  }

  func remoteDidEnd() {
    state.remoteDidEnd()
    if let dialect { requestDidEnd(for: dialect) }
    endOfRequests()
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
    connection.counters.streamEnded(isWhole: wasEnded, isOk: wasEnded && headersSent && status?.isOk ?? true)
    if isTraced, stamp.wantsEnd { endTracing(wasEnded ? status ?? .ok : .callGone) }
    cancelTimers()
    if !wasEnded { cancelled.store(true, ordering: .relaxed) }
    let responses = closeForHandler()
    // Interceptors are notified before the handler. Otherwise the end of the handler would end their call first.
    reportClosed(wasEnded ? nil : .callGone)
    if !wasEnded { task?.cancel() }
    task = nil
    responses?.abort(.callGone)
    responses?.detach()
    flow?.pipe.abort(.callGone)
    flow?.pipe.detach()
    dropMessages()
    // Streamed requests are gone; a handler still has its one request.
    if flow != nil || runningHandlers == 0 { releaseRequest() }
    if runningHandlers > 0 { connection.clients.add(runningHandlers) }
    connection.forget(flow?.takeWithheld() ?? 0)
    connection.streamDidClose(self)
  }

  func readBody(into buffer: UnsafeMutableRawBufferPointer) -> BodyRead {
    defer { reportSent() }
    guard let dialect else { return body.read(into: buffer) }
    return readBody(into: buffer, for: dialect)
  }

  func takeBorrowed(_ count: Int) -> (MessageBuffer, UnsafeRawBufferPointer)? {
    defer { reportSent() }
    return body.takeBorrowed(count)
  }

  private func reportSent() {
    // A long response is traffic while it is being sent, and its reader may send pings to measure the link.
    connection.sawTraffic()
    if body.sentCount > 0 {
      connection.counters.sent(body.sentCount, at: loop.turnTime)
      if reportsMessages, let tracer { body.report(to: tracer) }
    }
    guard observation.reportsSent else {
      body.sentCount = 0
      return
    }
    while body.sentCount > 0 {
      body.sentCount -= 1
      reportSent(.message)
    }
  }

  func trailers(into headers: HeaderWriter) -> Trailers {
    // Other protocols have no trailers, or have sent them in the body. Pages and refusals have none either.
    dialect == nil && head.isForGRPC ? makeTrailers(into: headers) : .none
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
    if reportsMessages, let tracer { tracer.messageReceived(byteCount) }
    connection.counters.receivedMessage(at: loop.turnTime)
  }

  /// Ends the stream of requests, once the reader has all of them.
  func endOfRequests() {
    guard phase != .refusing, inbound.isEmpty || failure != nil else { return }
    if failure == nil, inbound.isInsideMessage { fail(.truncatedMessage) }
    flow?.pipe.finish(failure)
  }

  func fail(_ status: GRPCStatus) {
    failure = dialect?.failure(status, inbound.fault) ?? status
    guard head.rejection == nil else { return connection.streamIsReady(self) }
    connection.report(
      inbound.fault ?? (status.code == .resourceExhausted ? .messageTooLarge : .brokenFraming)
    )
    flow?.pipe.finish(status)
    connection.streamIsReady(self)
  }

  // MARK: Starting

  /// Whether `processReady` probably starts a handler on the loop, for a request that is whole.
  var awaitsHandler: Bool {
    phase == .receiving && state.hasRemoteEnded && flow == nil && head.method?.runsOnLoop ?? false
  }

  func processReady() { _ = processReady(leavesHandler: false) }

  /// The same, except that the caller has to run the handler that is returned, with its request, which is valid until
  /// the connection has processed its ready streams.
  func processReady(leavesHandler: Bool) -> LeftHandler? {
    var left: LeftHandler?
    switch phase {
    case .receiving: left = startIfWhole(leavesHandler)
    case .refusing: if let rejection = head.rejection { refuse(rejection) }
    case .handling: if let failure { endEarly(failure) }
    case .ending: if dialect?.isBroken == true { giveUp() }
    case .head, .closed: break
    }
    if case .lent = inbound.single { inbound.single = .none }
    return left
  }

  /// A handler that is about to run, and its one request.
  typealias LeftHandler = (handler: MethodHandler, request: UnsafeRawBufferPointer)

  private func startIfWhole(_ leavesHandler: Bool) -> LeftHandler? {
    if let rejection = head.rejection {
      refuse(rejection)
    } else if let page = head.page {
      if state.hasRemoteEnded { start(page) } else { limitRequest() }
    } else if let handler = head.method?.handler {
      return startIfWhole(handler, leavesHandler)
    }
    return nil
  }

  private func startIfWhole(_ handler: MethodHandler, _ leavesHandler: Bool) -> LeftHandler? {
    if connection.isObserved { observe(handler) }
    // The timer of a deadline that has passed would fire only after the handler has run.
    if failure != nil || head.timeout?.nanoseconds == 0 {
      end(nil, failure ?? .requestExpired)
    } else if flow != nil {
      loop.count(message: 0)
      begin()
      starting { handler.start(self) }
    } else if state.hasRemoteEnded, inbound.isEmpty {
      return startSingle(handler, leavesHandler)
    } else {
      startDeadline()
      // A request that has arrived waits for the connection to have room.
      if state.hasRemoteEnded { stopLimitingRequest() } else { limitRequest() }
      keepLent()
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
      forgetTask()
      knownTask = TaskMarks.address(of: task)
      loop.activity.tasks.add(knownTask, method.mark)
    }
    self.task = task
  }

  func forgetTask() {
    guard knownTask != 0 else { return }
    loop.activity.tasks.remove(knownTask)
    knownTask = 0
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
