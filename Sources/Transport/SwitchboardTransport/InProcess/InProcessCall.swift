// unsafe: state confined to the transport's loop
// state: both sides of a call that no connection carries

import SwitchboardCall
import SwitchboardNetwork
import Synchronization

/// A call within the process: the client's call and the server's stream in one object.
final class InProcessCall: @unchecked Sendable {
  // Sendable because other threads only use `shared`, `cancelled`, and `onlyRequest` and `headers`,
  // which are not written after the handler starts. The rest is only used on the loop.

  /// ```
  ///   idle ──start──> handling ──status──> closed
  /// ```
  /// A cancellation or the deadline leads from `idle` and from `handling` to `closed`.
  private enum Phase {
    case idle, handling, closed
  }

  /// What the handler and the interceptors have set.
  struct Shared: Sendable {
    var headers: HPACKHeaders?
    var trailers: HPACKHeaders?
    var userInfo = UserInfo()
    var load: (any CallLoad)?
  }

  let request: CallRequest
  let receiver: any ResponseReceiver
  let transport: InProcessTransport
  /// Not written after the handler starts.
  @exclusivity(unchecked) private(set) var headers: HPACKHeaders
  let shared = RareValue<Shared>()
  let cancelled = Atomic(false)
  /// The one request of a client that does not stream, for a method that takes a stream.
  @exclusivity(unchecked) private var onlyRequest: MessagePipe?
  private var phase = Phase.idle
  private(set) var hasSucceeded = false
  private var headersAreDelivered = false
  private var timer: LoopTimer?
  private var clientTracer: (any AttemptTracer)?
  private var serverTracer: (any CallTracer)?
  /// The handler's context. Not written after the handler starts.
  @exclusivity(unchecked) private(set) var handlerContext: (any CallTracer & ContextSource)?
  private var serverStamp = CallStamp()
  /// Whether the tracer of the client's call follows its attempt.
  private var isFollowedByCall = false
  /// Whether the transport's tracer follows the server's call, unless that has one of its own.
  private var isFollowedByServer = false
  private var sent = MessageTotals()
  private var received = MessageTotals()
  /// The server's side of the call has its own end, which comes first.
  var observation = StreamObservation()
  var task: Task<Void, any Error>?

  init(_ request: CallRequest, _ receiver: any ResponseReceiver, _ transport: InProcessTransport) {
    self.request = request
    self.receiver = receiver
    self.transport = transport
    var headers = request.options.map { transport.allowed($0.initialMetadata, of: request.method) } ?? [:]
    if request.previousAttempts > 0 {
      headers.add(name: "grpc-previous-rpc-attempts", value: String(request.previousAttempts))
    }
    // Those that the server's side receives.
    headers.markReceived()
    self.headers = headers
    if case .stream(let pipe) = request.body { pipe.limitMessages(to: transport.requestLimit) }
    request.responses?.limitMessages(to: responseLimit)
  }

  private var responseLimit: MessageLimit {
    .response(request.options, orOfChannel: transport.channelOptions.responseSizeLimit)
  }

  /// The requests, if the method takes a stream.
  var streamedRequests: MessagePipe? {
    if case .stream(let pipe) = request.body { pipe } else { onlyRequest }
  }

  var isHandling: Bool { phase == .handling }
  var handlerIsOver: Bool { phase == .closed }

  func isTooLate(for action: LateAction) -> Bool {
    phase == .closed || action != .trailers && headersAreDelivered
  }

  /// Who hears of uses of the call's streams by a handler that has returned.
  private var lateUses: LateUses? {
    hasSucceeded ? servedMethod.map { LateUses($0, transport.log, loop) } : nil
  }

  // MARK: On the loop

  func begin() {
    guard phase == .idle else { return }
    guard transport.begin(self) else { return close(transport.refusal) }
    phase = .handling
    if transport.isObserved { observeAtClient() }
    if let failure = request.failureToSend { return close(failure) }
    guard headers.listSize <= transport.options.maxMetadataSize else { return close(.headersTooLarge) }
    guard let method = servedMethod else {
      return close(request.method.pathBytes.withUnsafeBufferPointer { .unknownMethod($0) })
    }
    let subtype = request.contentSubtype
    guard var handler = (subtype.isUnnamed ? method : method.inFormat(subtype))?.handler else {
      return close(.unknownFormat(of: method))
    }
    if transport.isObserved { observeAtServer() }
    if serverStamp.isWatched, let watch = transport.tracer?.stageWatch(of: serverTracer) {
      handler = handler.watched(by: watch)
    }
    if let deadline = request.deadline {
      timer = transport.loop.startTimer(at: deadline) { self.close(self.deadlineStatus) }
      if timer == nil { return close(deadlineStatus) }
    }
    receiver.sent(.metadata)
    switch request.body {
    case .stream(let pipe): start(handler, readingFrom: pipe)
    case .message(let message):
      guard message.byteCount <= transport.requestLimit.byteCount else {
        return close(transport.requestLimit.exceeded(by: message.byteCount))
      }
      guard !handler.method.type.streamsRequests else {
        // As over a network, one request is a stream of one.
        reportMessage(message.byteCount, isRequest: true)
        let pipe = MessagePipe(limit: .max)
        pipe.push(message)
        pipe.finish()
        onlyRequest = pipe
        return start(handler, readingFrom: pipe)
      }
      sent.add(message.byteCount)
      reportMessage(message.byteCount, isRequest: true)
      request.responses?.attach(self)
      receiver.sent(.end)
      run { [handler] in message.withBytes { handler.start(self, message: $0) } }
    }
  }

  private var deadlineStatus: GRPCStatus {
    let clause =
      isHeld
      ? "while an interceptor of the server held the call" : "while waiting for the response of \(whatRuns)"
    return request.deadlineExceeded(by: transport.loop.clock, clause)
  }

  /// A method with one request starts once it is there.
  private var whatRuns: String {
    let isMissing = (streamedRequests.map { !$0.hasEnded } ?? false)
    let note = isMissing ? " (the requests were not finished either)" : ""
    return "the handler of \(request.method.path) in this process\(note)"
  }

  /// Starts a method for a caller that streams its requests; a method with one request, once the stream has ended.
  private func start(_ handler: MethodHandler, readingFrom pipe: MessagePipe) {
    pipe.attach(self)
    request.responses?.attach(self)
    guard !handler.method.type.streamsRequests else { return run { handler.start(self) } }
    Task(executorPreference: transport.loop) {
      guard let message = try? await pipe.next() else { return self.close(.wrongRequestCount) }
      guard (try? await pipe.next()) == nil else { return self.close(.wrongRequestCount) }
      guard self.phase == .handling else { return }
      self.run { message.withBytes { handler.start(self, message: $0) } }
    }
  }

  private func observeAtClient() {
    if !request.stamp.needsTracer { return addTraceParent() }
    if let tracer = request.tracer {
      guard let attempt = tracer.attemptStarts(request.method, after: request.previousAttempts) else {
        isFollowedByCall = true
        return addTraceParent()
      }
      clientTracer = attempt.serverPicked("inprocess", [:])
      attempt.writeAllHeaders(request.stamp) { name, value in
        value.withUnsafeBytes { headers.add(name: "\(name)", value: String(decoding: $0, as: UTF8.self)) }
      }
    } else if let observer = transport.channelOptions.observer {
      clientTracer = PlainTracer(
        observer,
        ObservedCall(method: request.method, headers: headers, isServer: false)
      )
    }
  }

  /// Adds what the call's stamp says.
  private func addTraceParent() {
    if request.stamp.identity.span != 0 { headers.add(traceParent: request.stamp.identity) }
  }

  private func observeAtServer() {
    guard let observer = transport.options.observer else { return }
    if let tracer = transport.tracer {
      isFollowedByServer = true
      serverTracer = tracer.callStarted(request.method, headers, number: nil, SpanIdentity(), &serverStamp)
    } else {
      let call = ObservedCall(method: request.method, headers: headers, isServer: true)
      serverTracer = PlainTracer(observer, call)
    }
  }

  private func run(_ start: () -> Void) {
    if let tracer = transport.tracer, tracer.givesContext {
      handlerContext = tracer.makeContext(of: serverTracer, headers, SpanIdentity(), serverStamp, deadline)
    }
    start()
  }

  var servedMethod: RPCMethod? {
    request.method.pathBytes.withUnsafeBufferPointer { transport.router.method(for: $0) }
  }

  func deliverHeaders() {
    guard phase == .handling, !headersAreDelivered else { return }
    headersAreDelivered = true
    reportSent(.metadata)
    guard receiver.wantsMetadata else { return }
    var all = request.contentSubtype == .unnamed ? Self.responseHeaders : namedHeaders
    if let own = shared.value?.headers { all.add(contentsOf: allowed(own)) }
    receiver.receive(headers: consume all)
  }

  func answer(_ message: MessageBuffer) {
    guard phase == .handling else { return }
    deliverHeaders()
    guard message.byteCount <= responseLimit.byteCount else {
      return close(responseLimit.exceeded(by: message.byteCount))
    }
    received.add(message.byteCount)
    reportMessage(message.byteCount, isRequest: false)
    if let responses = request.responses {
      responses.push(message)
    } else {
      message.withBytes { receiver.receive(message: $0) }
    }
    end(.ok)
  }

  /// Called when the server ends the call. The client reads the server's messages from the same memory, so none are on
  /// the way.
  func end(_ status: GRPCStatus) {
    guard phase == .handling else { return }
    if status.isOk { deliverHeaders() }
    reportSent(.end)
    reportClosed(nil)
    // For the client, the peer ends the call, as it would over a network.
    var status = status
    status.origin = .peer
    close(status)
  }

  /// Ends the call. All calls end here.
  func close(_ status: GRPCStatus) {
    guard phase != .closed else { return }
    // A call that ends before it begins has been made nevertheless.
    if phase == .idle, transport.isObserved { observeAtClient() }
    if status.isOk || shared.value?.headers != nil { deliverHeaders() }
    phase = .closed
    hasSucceeded = status.isOk
    if let timer { transport.loop.cancel(timer) }
    timer = nil
    cancelled.store(true, ordering: .relaxed)
    // Interceptors are notified before the handler. Otherwise the end of the handler would end their call first.
    reportClosed(status)
    task?.cancel()
    task = nil
    if let pipe = streamedRequests {
      pipe.detach(.read, lateUses)
      pipe.abort(status.isOk ? .callGone : status)
    }
    if let responses = request.responses { responses.detach(.written, lateUses) }
    notifyObservers(status)
    receiver.close(status, trailers: receiver.wantsMetadata ? trailers(status) : HPACKHeaders())
    transport.end(self)
  }

  /// A message that is not streamed goes from one side to the other.
  private func reportMessage(_ byteCount: Int, isRequest: Bool) {
    let sender: (any CallTracer)? = isRequest ? clientTracer : serverTracer
    let recipient: (any CallTracer)? = isRequest ? serverTracer : clientTracer
    if let sender, sender.wantsMessages { sender.messageSent(byteCount, compressed: nil) }
    if let recipient, recipient.wantsMessages { recipient.messageReceived(byteCount) }
  }

  private func notifyObservers(_ status: GRPCStatus) {
    guard isFollowedByCall || isFollowedByServer || clientTracer != nil || serverTracer != nil else { return }
    if let pipe = streamedRequests { sent = pipe.totals }
    if let responses = request.responses { received = responses.totals }
    let end = ObservedEnd(status: status, sent: sent, received: received)
    if isFollowedByCall {
      request.tracer?.attemptEnded(
        end,
        request.method,
        request.stamp,
        at: "inprocess",
        request.options?.initialMetadata
      )
    }
    clientTracer.take()?.ended(end, request.stamp)
    guard isFollowedByServer || serverTracer != nil else { return }
    // The server receives what the client sends.
    let serverEnd = ObservedEnd(status: status, sent: received, received: sent)
    // Without a tracer, the context still ends the calls that the handler has made.
    if let handlerContext, handlerContext !== serverTracer { handlerContext.ended(serverEnd, serverStamp) }
    if let tracer = serverTracer.take() {
      tracer.ended(serverEnd, serverStamp)
    } else if serverStamp.wantsEnd {
      transport.tracer?.callEnded(serverEnd, request.method, serverStamp, headers)
    }
  }

  /// Called when a message was read from one of the pipes.
  func reportRead(isRequest: Bool) {
    if isRequest { receiver.sent(.message) } else { reportSent(.message) }
  }

  // Made once, because most calls have no others.
  private var namedHeaders: HPACKHeaders {
    HPACKHeaders([(":status", "200"), ("content-type", request.contentSubtype.contentType)]).received
  }
  private static let responseHeaders =
    HPACKHeaders([(":status", "200"), ("content-type", "application/grpc")]).received
  private static let successTrailers =
    HPACKHeaders([("grpc-status", "0"), ("grpc-message", "OK")]).received

  private func trailers(_ status: GRPCStatus) -> HPACKHeaders {
    let own = ownTrailers
    guard status != .ok else {
      guard let own else { return Self.successTrailers }
      var all = Self.successTrailers
      all.add(contentsOf: allowed(own, inTrailers: true))
      return all
    }
    var all = HPACKHeaders([("grpc-status", String(status.code.rawValue))]).received
    if let message = status.message { all.add(name: "grpc-message", value: message) }
    if let details = status.packedDetails { all.add(name: "grpc-status-details-bin", binary: details) }
    if let own { all.add(contentsOf: allowed(own, inTrailers: true)) }
    return all
  }

  private func allowed(_ own: HPACKHeaders, inTrailers: Bool = false) -> HPACKHeaders {
    own.allowed(inTrailers: inTrailers) {
      transport.log.leftOut.report(own, of: request.method, inTrailers: inTrailers)
    }
  }

  private var ownTrailers: HPACKHeaders? {
    let shared = shared.value
    return HPACKHeaders.trailers(shared?.trailers, shared?.load, transport.options.loadRecorder)
  }
}

extension MessageTotals {
  fileprivate mutating func add(_ byteCount: Int) {
    messages += 1
    bytes += byteCount + MessageBuffer.prefixByteCount
  }
}

extension HPACKHeaders {
  /// The size of the fields, as HTTP/2 counts it.
  fileprivate var listSize: Int {
    (0..<fieldCount).reduce(0) { size, index in
      size + withField(at: index) { name, value in name.count + value.count + 32 }
    }
  }

  /// The fields that a user may send; see `HeaderWriter`. Others are reported.
  fileprivate func allowed(inTrailers: Bool = false, _ reportLeftOut: () -> Void) -> HPACKHeaders {
    var allowed = HPACKHeaders()
    let areAll = forEachUserField(inTrailers: inTrailers) { allowed.append(name: $0, value: $1) }
    if !areAll { reportLeftOut() }
    return allowed
  }
}

extension InProcessTransport {
  fileprivate func allowed(_ metadata: HPACKHeaders, of method: MethodDescriptor) -> HPACKHeaders {
    metadata.allowed { leftOut.report(metadata, of: method) }
  }
}
