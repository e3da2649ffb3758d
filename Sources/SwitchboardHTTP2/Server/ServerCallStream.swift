import SwitchboardCall
import Synchronization

/// One call on the server: between an HTTP/2 stream and a handler.
final class ServerCallStream: SessionStream, @unchecked Sendable {
  // Sendable holds because what other threads may touch is `shared`, behind its lock, and the atomics;
  // `head` is not written after the handler starts; the rest is touched on the loop alone.

  /// ```
  ///   head ──> receiving ──request is whole──> handling ──status──> ending ──last frame──> closed
  ///                ├───────────────rejected───────────────────────────^
  ///                └──no gRPC──> refusing ──request is whole──────────┘
  /// ```
  /// From every phase a reset, a lost connection or a deadline leads on at once.
  enum Phase {
    /// The headers of the request are not whole.
    case head
    case receiving, refusing, handling, ending, closed
  }

  let connection: ServerConnection
  /// The connection's, at hand: on the way through the connection each look at it would retain it.
  let loop: Loop
  @exclusivity(unchecked) var phase = Phase.head
  @exclusivity(unchecked) private(set) var state = StreamState.open
  @exclusivity(unchecked) var head: RequestHead
  @exclusivity(unchecked) var body = OutboundBody(endsWithStatus: true)
  @exclusivity(unchecked) var inbound: InboundMessages
  /// Set before a handler can see it.
  @exclusivity(unchecked) private(set) var flow: InboundFlow?
  /// What is wrong with the request: no more of it is taken.
  @exclusivity(unchecked) private(set) var failure: GRPCStatus?
  /// What calls of gRPC-Web have beyond those of gRPC.
  @exclusivity(unchecked) private var web: WebBody?
  /// Not written after the handler starts: of a stream of requests, each message says it.
  @exclusivity(unchecked) private(set) var requestWasCompressed = false
  @exclusivity(unchecked) var headersSent = false
  /// How the call ended; `nil` where it did as most do.
  @exclusivity(unchecked) var status: GRPCStatus?
  @exclusivity(unchecked) var trailerMetadata: HPACKHeaders?
  @exclusivity(unchecked) var task: Task<Void, Never>?
  @exclusivity(unchecked) private var timer: LoopTimer?
  @exclusivity(unchecked) private var requestTimer: LoopTimer?
  @exclusivity(unchecked) var observer: (any ServerStreamObserver)?
  /// Whether the observer wants to hear of what has left.
  @exclusivity(unchecked) private(set) var tellsSent = false
  @exclusivity(unchecked) private(set) var deadline: ContinuousClock.Instant?
  @exclusivity(unchecked) private var observation: Observation?

  let signals = Atomic(0)
  let cancelled = Atomic(false)
  let shared = Locked(Shared())

  /// What handlers reach from any thread.
  struct Shared: Sendable {
    var headers: HPACKHeaders?
    var trailers: HPACKHeaders?
    var compression = MessageCompression.none
    var outcome: Outcome?
    var responses: MessagePipe?
    var userInfo: UserInfo?
    /// Nothing of what the handler sends is of use any more.
    var isClosed = false
  }

  /// What a handler on another thread ends its call with. An object, since few calls need one.
  final class Outcome: Sendable {
    let message: MessageBuffer?
    let status: GRPCStatus?

    init(_ message: MessageBuffer?, _ status: GRPCStatus?) {
      self.message = message
      self.status = status
    }
  }

  init(_ connection: ServerConnection, isRefused: Bool, isHTTP1: Bool = false) {
    self.connection = connection
    loop = connection.loop
    if isRefused { phase = .ending }
    head = RequestHead(
      listSizeLimit: connection.options.maxMetadataSize,
      crossOrigin: connection.crossOrigin,
      isHTTP1: isHTTP1
    )
    inbound = InboundMessages(deframer: Deframer(sizeLimit: connection.options.maxRequestSize))
  }

  // MARK: What the session tells

  override func receiveHeader(_ name: Bytes, _ value: Bytes, _ fields: FieldCollector) {
    guard phase == .head else { return }
    if name.equals(":path") {
      head.take(connection.router.route(for: value), for: value)
    } else {
      head.add(name, value, fields)
    }
  }

  override func headersDidEnd(endsStream: Bool, _ fields: FieldCollector) {
    // Trailers end a request, and say nothing to gRPC: the session has seen to it that they are some.
    guard phase == .head else { return endsStream ? remoteDidEnd() : () }
    phase = .receiving
    if endsStream { state.remoteDidEnd() }
    head.end(fields)
    if head.namesFormat { head.settleFormat(by: connection.router) }
    if let format = head.webFormat { web = WebBody(format) }
    if head.streamsRequests {
      flow = InboundFlow(MessagePipe(limit: connection.options.streamBufferSize))
    }
    if endsStream { endOfRequests() }
    connection.streamIsReady(self)
  }

  override func receiveData(_ bytes: UnsafeRawBufferPointer) {
    connection.sawTraffic()
    connection.settle(arrived: bytes.count, credit: receive(bytes), on: id)
  }

  override func remoteDidEnd() {
    state.remoteDidEnd()
    endOfRequests()
    if phase == .receiving || phase == .refusing { connection.streamIsReady(self) }
  }

  override func localDidEnd() {
    state.localDidEnd()
    if tellsSent { observer?.sent(.end) }
    // The answer is complete, so the rest of the request is of no use to anyone.
    if !state.hasRemoteEnded { connection.stopRequest(id) }
  }

  override func didClose(_ code: UInt32) {
    let wasEnded = state.hasLocalEnded
    phase = .closed
    // Without headers it was no call, or one that failed.
    connection.counters.streamEnded(isWhole: wasEnded, isOk: wasEnded && headersSent && status?.isOk ?? true)
    if connection.isObserved { endObservation(isWhole: wasEnded) }
    cancelTimers()
    if !wasEnded { cancelled.store(true, ordering: .relaxed) }
    let responses = shared.withLock { shared in
      shared.isClosed = true
      return shared.responses
    }
    // Interceptors hear of it before the handler does, whose end would otherwise end their call first.
    tellClosed(wasEnded ? nil : .callGone)
    if !wasEnded { task?.cancel() }
    task = nil
    responses?.abort(.callGone)
    responses?.detach()
    flow?.pipe.abort(.callGone)
    flow?.pipe.detach()
    inbound.drop()
    connection.forget(flow?.takeWithheld() ?? 0)
    connection.streamDidClose(self)
  }

  private func endObservation(isWhole: Bool) {
    observation?.end(isWhole ? status ?? .ok : .callGone, sent: body.totals, received: inbound.totals)
    observation = nil
  }

  func watchSent() { tellsSent = true }

  func tellClosed(_ failure: GRPCStatus?) {
    let observer = observer.take()
    observer?.closed(failure)
  }

  override func readBody(into buffer: UnsafeMutableRawBufferPointer) -> BodyRead {
    defer { tellSent() }
    guard let web else { return body.read(into: buffer) }
    return readWebBody(web, into: buffer)
  }

  override func takeBorrowed(_ count: Int) -> (MessageBuffer, UnsafeRawBufferPointer)? {
    defer { tellSent() }
    return body.takeBorrowed(count)
  }

  private func tellSent() {
    // A long answer is traffic for as long as it takes, and its reader may well ask how fast it comes.
    connection.sawTraffic()
    if body.sentCount > 0 { connection.counters.sent(body.sentCount, at: loop.turnTime) }
    guard tellsSent, let observer else {
      body.sentCount = 0
      return
    }
    while body.sentCount > 0 {
      body.sentCount -= 1
      observer.sent(.message)
    }
  }

  override func trailers(into headers: HeaderWriter) -> Trailers {
    // Those of gRPC-Web were in the body.
    web == nil ? makeTrailers(into: headers) : .none
  }

  override func runOnLoop() { handleSignals() }

  // MARK: Requests

  /// Takes bytes of the request, and returns how many of them the client may send again at once.
  private func receive(_ bytes: UnsafeRawBufferPointer) -> Int {
    guard wantsMessages else { return bytes.count }
    if let web, web.isText { return takeText(bytes, web) }
    return take(bytes)
  }

  func countReceived() {
    inbound.totals.messages += 1
    connection.counters.receivedMessage(at: loop.turnTime)
  }

  /// Ends the reader's messages, once it has all that came.
  func endOfRequests() {
    guard phase != .refusing, inbound.isEmpty || failure != nil else { return }
    if failure == nil, inbound.isInsideMessage || web?.isInsideGroup == true { fail(.truncatedMessage) }
    flow?.pipe.finish(failure)
  }

  func fail(_ status: GRPCStatus) {
    failure = status
    guard head.rejection == nil else { return connection.streamIsReady(self) }
    connection.report(
      inbound.fault ?? (status.code == .resourceExhausted ? .messageTooLarge : .brokenFraming)
    )
    flow?.pipe.finish(status)
    connection.streamIsReady(self)
  }

  // MARK: Starting

  override func processReady() {
    switch phase {
    case .receiving: startIfWhole()
    case .refusing: if let rejection = head.rejection { refuse(rejection) }
    case .handling: if let failure { cut(failure) }
    case .head, .ending, .closed: break
    }
    if case .lent = inbound.single { inbound.single = .none }
  }

  private func startIfWhole() {
    if !head.isPlainCall, let rejection = head.rejection { return refuse(rejection) }
    guard let handler = head.handler else { return }
    if connection.isObserved { observe(handler.method) }
    if failure != nil { return end(nil, failure) }
    if flow != nil {
      begin()
      handler.start(self)
    } else if state.hasRemoteEnded, inbound.isEmpty {
      startSingle(handler)
    } else {
      startDeadline()
      limitRequest()
      if case .lent(let bytes) = inbound.single { inbound.single = .kept(MessageBuffer(bytes)) }
    }
  }

  private func refuse(_ rejection: RequestHead.Rejection, isLate: Bool = false) {
    switch rejection {
    case .status(let status):
      if head.isTooLarge { connection.report(.headersTooLarge) }
      end(nil, status)
    case .preflight: answerPreflight()
    case .http(let code, let message, let allowed):
      // A peer that does not speak gRPC may not understand an answer before it has said all.
      guard state.hasRemoteEnded || isLate else {
        phase = .refusing
        return limitRequest()
      }
      reject(code, message, allowed: allowed)
    }
  }

  /// A request that has to be whole comes in time or not at all.
  private func limitRequest() {
    guard requestTimer == nil, let limit = connection.options.requestTimeout else { return }
    let timer = LoopTimer { self.requestDidNotCome() }
    requestTimer = timer
    loop.schedule(timer, after: limit)
  }

  private func requestDidNotCome() {
    requestTimer = nil
    connection.report(.slowRequest)
    if phase == .refusing, let rejection = head.rejection {
      refuse(rejection, isLate: true)
    } else {
      end(nil, .requestTooSlow)
    }
  }

  private func startSingle(_ handler: MethodHandler) {
    let request = inbound.single
    inbound.single = .none
    switch request {
    case .none: end(nil, .wrongRequestCount)
    case .lent(let bytes):
      begin()
      handler.start(self, message: bytes.bytes)
    case .kept(let message):
      requestWasCompressed = message.wasCompressed
      begin()
      message.withBytes { handler.start(self, message: $0) }
    }
  }

  private func begin() {
    phase = .handling
    stopLimitingRequest()
    startDeadline()
    flow?.pipe.attach(self)
  }

  private func observe(_ method: MethodDescriptor) {
    guard observation == nil, let observer = connection.options.observer else { return }
    let call = ObservedCall(method: method, headers: head.metadata, isServer: true)
    observation = Observation(observer, call)
  }

  /// It runs from the first sight of the headers, whether the request is whole or not.
  private func startDeadline() {
    guard let timeout = head.timeout, deadline == nil else { return }
    let length = Duration.nanoseconds(Int64(clamping: timeout.nanoseconds))
    deadline = ContinuousClock.now + length
    let timer = LoopTimer { self.deadlinePassed() }
    self.timer = timer
    loop.schedule(timer, after: length)
  }

  /// How long after its deadline an answer may still be on its way out.
  private static let timeForLastWords = Duration.seconds(1)

  private func deadlinePassed() {
    // An answer that has not left is not to look whole, since what is left of it is dropped.
    if phase == .ending, !state.hasLocalEnded { status = .deadlinePassed }
    cut(.deadlinePassed)
    let timer = LoopTimer { self.giveUp() }
    self.timer = timer
    loop.schedule(timer, after: Self.timeForLastWords)
  }

  /// The client does not take the answer, for which it waits no more.
  private func giveUp() {
    timer = nil
    observation?.end(.deadlinePassed, sent: body.totals, received: inbound.totals)
    observation = nil
    connection.giveUp(id)
  }

  func stopLimitingRequest() {
    guard let requestTimer else { return }
    loop.cancel(requestTimer)
    self.requestTimer = nil
  }

  private func cancelTimers() {
    stopLimitingRequest()
    guard let timer else { return }
    loop.cancel(timer)
    self.timer = nil
  }
}
