// unsafe: a chain is touched on its call's loop alone, and keeps its interceptors while one runs

/// The chain of interceptors of one call, between the application (a caller or a handler) and the transport.
///
/// ```
///   application ──send──> interceptor ──> … ──> marshaller ──> transport
///   application <───────── interceptor <── … <── marshaller <── transport
/// ```
/// This protocol has what both sides share; the client's and the server's chains add their two ends. A part that is
/// passed to an index without an interceptor leaves the chain: for the transport if it is sent, for the application if
/// it is received.
@usableFromInline
protocol InterceptorChain<Interceptor>: SideWorkChain where Self: ChainState<Interceptor> {
  associatedtype Interceptor: ChainedInterceptor where Interceptor.Chain == Self

  /// The step from one interceptor to the next towards the transport: 1 or -1.
  static var towardsTransport: Int { get }

  /// The loop of the transport.
  var eventLoop: any EventLoop { get }

  // The ends of the chain.
  func transmit(_ part: Interceptor.Sent, _ promise: EventLoopPromise<Void>?)
  func deliver(_ part: Interceptor.Received)
  func deliver(failure: any Error)
  /// Where sent messages wait if no interceptor queues them.
  var transportQueue: (any WriterRoom)? { get }
  /// Ends the call at the transport.
  func stop(_ status: GRPCStatus)
  /// Called with a part that an interceptor passes on after the call has ended.
  func isTooLate(_ part: Interceptor.Sent)
  func isTooLate(_ part: Interceptor.Received)
  /// The status of a call whose message cannot be encoded.
  func status(ofEncoding error: any Error) -> GRPCStatus
}

/// What a chain requires of an interceptor, on either side.
@usableFromInline
protocol ChainedInterceptor: AnyObject, SendableMetatype {
  /// Parts on their way to the transport.
  associatedtype Sent: Sendable
  /// Parts on their way to the application.
  associatedtype Received: Sendable
  associatedtype Context: ChainContext<Chain>
  associatedtype Chain: AnyObject

  func send(_ part: Sent, promise: EventLoopPromise<Void>?, context: Context)
  func receive(_ part: Received, context: Context)
  func errorCaught(_ error: any Error, context: Context)
  func receiveNextMessages(_ count: Int, context: Context)
  var executors: InterceptorExecutors { get }
}

/// An interceptor's view of a chain.
@usableFromInline
protocol ChainContext<Chain>: Sendable {
  associatedtype Chain: AnyObject

  /// Calls `body` with the view of the interceptor at `index`. What is generic over chains cannot make one without counting a
  /// reference to its chain.
  static func with(_ chain: Chain, _ index: Int, _ body: (Self) -> Void)
}

/// The state of a chain on either side. A class, because state behind a protocol's requirements would be copied at each
/// access.
@usableFromInline
class ChainState<Interceptor: ChainedInterceptor>: @unchecked Sendable {
  // Sendable holds because everything is used only on the event loop. Unchecked exclusivity holds because no access
  // lasts while other code runs.

  /// The loop's address, by which its thread identifies itself; see `LoopOfThread`. The largest number is no address, and
  /// zero that of other threads. A reference to the loop would be counted here; the transport has one.
  @usableFromInline final let loopAddress: UInt
  @exclusivity(unchecked) @usableFromInline final var interceptors: InterceptorList<Interceptor>
  /// The state that only few chains need.
  @exclusivity(unchecked) @usableFromInline final var sideWork: SideWork?
  /// Whether parts may still pass.
  @exclusivity(unchecked) @usableFromInline final var isOpen = true
  /// How many more messages the transport may deliver. Created on demand, because most calls stream none.
  @exclusivity(unchecked) @usableFromInline final var credit: Credit?
  /// Of parts that the transport has not sent.
  @exclusivity(unchecked) @usableFromInline final var promises = SentPromises()

  @inlinable @inline(__always)
  init(_ interceptors: consuming [Interceptor], at loopAddress: UnsafeMutableRawPointer?) {
    self.interceptors = InterceptorList(interceptors)
    self.loopAddress = loopAddress.map { UInt(bitPattern: $0) } ?? .max
    takeExecutors()
  }

  /// Whether the chain is closed and holds nothing of its call except what `reopen` replaces.
  @inlinable @inline(__always)
  final var isVacant: Bool { !isOpen && sideWork == nil && credit == nil }

  /// Serves another call, on the same loop.
  @inlinable @inline(__always)
  final func reopen(_ interceptors: consuming [Interceptor]) {
    self.interceptors = InterceptorList(interceptors)
    promises = SentPromises()
    isOpen = true
    takeExecutors()
  }

  @inlinable @inline(__always)
  final func takeExecutors() {
    for index in 0..<(self.interceptors.last + 1)
    where self.interceptors.uncounted(index)._withUnsafeGuaranteedRef({ $0.executors.areNamed }) {
      sideWork = SideWork(executors: self.interceptors.all.map(\.executors))
      self.interceptors.takeDetours()
      break
    }
  }

  /// Whether the current thread identifies itself as the loop's. Not every loop's thread does.
  @inlinable @inline(__always)
  final var isOfThread: Bool { UInt(bitPattern: LoopOfThread.address) == loopAddress }

  @usableFromInline
  final func makeCredit() -> Credit {
    let credit = credit ?? Credit()
    self.credit = credit
    return credit
  }

  /// Closes the chain: no more parts pass. Always inlined: otherwise the compiler calls the unspecialized form.
  @inlinable @inline(__always)
  final func closeChain() {
    isOpen = false
    interceptors.close()
    if !interceptors.isEntered { releaseInterceptors() }
    credit?.close()
    sideWork?.close()
  }

  /// Releases the interceptors and every part that they keep.
  @usableFromInline
  final func releaseInterceptors() { _ = interceptors.takeAll() }
}

// MARK: - Parts

extension InterceptorChain {
  @inlinable @inline(__always)
  var isHere: Bool { isOfThread || eventLoop.inEventLoop }

  /// The index at which parts of the application enter.
  @inlinable @inline(__always)
  var applicationEnd: Int { Self.towardsTransport > 0 ? 0 : interceptors.last }

  /// The index at which parts of the transport enter.
  @inlinable @inline(__always)
  var transportEnd: Int { Self.towardsTransport > 0 ? interceptors.last : 0 }

  /// Passes a part from the application to the chain. Called on the loop.
  @inlinable @inline(__always)
  func sendFirst(_ part: Interceptor.Sent) {
    let hasEntered = interceptors.enter()
    send(part, promise: nil, to: applicationEnd)
    leave(hasEntered)
  }

  /// Passes a part from the transport to the chain. Called on the loop.
  @inlinable @inline(__always)
  func receiveFirst(_ part: Interceptor.Received) {
    let hasEntered = interceptors.enter()
    receive(part, at: transportEnd)
    leave(hasEntered)
  }

  @inlinable @inline(__always)
  func leave(_ hasEntered: Bool) {
    guard hasEntered else { return }
    interceptors.leave()
    if !isOpen { releaseInterceptors() }
  }

  /// Passes a part to the interceptor at `index`, or out of the chain, from any thread.
  @inlinable @inline(__always)
  func send(_ part: Interceptor.Sent, promise: EventLoopPromise<Void>?, to index: Int) {
    guard isOfThread else { return sendLater(part, promise, index) }
    guard let interceptor = interceptors.near(index) else { return sendIndirectly(part, promise, index) }
    interceptor._withUnsafeGuaranteedRef { interceptor in
      Interceptor.Context.with(self, index) { interceptor.send(part, promise: promise, context: $0) }
    }
  }

  /// Passes a part to the interceptor at `index`, or out of the chain, from any thread.
  @inlinable @inline(__always)
  func receive(_ part: Interceptor.Received, at index: Int) {
    guard isOfThread else { return receiveLater(part, index) }
    guard let interceptor = interceptors.near(index) else { return receiveIndirectly(part, index) }
    interceptor._withUnsafeGuaranteedRef { interceptor in
      Interceptor.Context.with(self, index) { interceptor.receive(part, context: $0) }
    }
  }

  /// For threads that do not identify themselves as the loop's.
  @inlinable @inline(never)
  func sendLater(_ part: Interceptor.Sent, _ promise: EventLoopPromise<Void>?, _ index: Int) {
    if eventLoop.inEventLoop { return sendIndirectly(part, promise, index) }
    eventLoop.execute { self.send(part, promise: promise, to: index) }
  }

  @inlinable @inline(never)
  func receiveLater(_ part: Interceptor.Received, _ index: Int) {
    if eventLoop.inEventLoop { return receiveIndirectly(part, index) }
    eventLoop.execute { self.receive(part, at: index) }
  }

  /// Passes on a part for which no interceptor can be called directly. Separate, to keep the inlined code above small.
  @inlinable @inline(never)
  func sendIndirectly(_ part: Interceptor.Sent, _ promise: EventLoopPromise<Void>?, _ index: Int) {
    guard isOpen else {
      isTooLate(part)
      promise?.fail(GRPCStatus.callEnded)
      return
    }
    guard interceptors.contains(index) else { return transmit(part, promise) }
    if let executor = sideWork?.executors?[index].sent {
      return hop(executor, index) { $0.send(part, promise: promise, context: $1) }
    }
    let hasEntered = interceptors.enter()
    Interceptor.Context.with(self, index) { interceptors[index].send(part, promise: promise, context: $0) }
    leave(hasEntered)
  }

  @inlinable @inline(never)
  func receiveIndirectly(_ part: Interceptor.Received, _ index: Int) {
    guard isOpen else { return isTooLate(part) }
    guard interceptors.contains(index) else { return deliver(part) }
    if let executor = sideWork?.executors?[index].received {
      return hop(executor, index) { $0.receive(part, context: $1) }
    }
    let hasEntered = interceptors.enter()
    Interceptor.Context.with(self, index) { interceptors[index].receive(part, context: $0) }
    leave(hasEntered)
  }
}

// MARK: - Errors and demand

extension InterceptorChain {
  @usableFromInline
  func failToEncode(_ error: any Error, _ promise: EventLoopPromise<Void>?) {
    let status = status(ofEncoding: error)
    promise?.fail(status)
    stop(status)
  }

  @usableFromInline
  func errorCaught(_ error: any Error, at index: Int) {
    guard isHere else {
      return eventLoop.execute { self.errorCaught(error, at: index) }
    }
    guard isOpen else { return }
    guard interceptors.contains(index) else { return deliver(failure: error) }
    perform(at: index, on: sideWork?.executors?[index].received) {
      $0.errorCaught(error, context: $1)
    }
  }

  /// Requests `count` more messages, if they stream.
  @usableFromInline
  func receiveNextMessages(_ count: Int, to index: Int) {
    guard isHere else {
      return eventLoop.execute { self.receiveNextMessages(count, to: index) }
    }
    guard isOpen else { return }
    guard interceptors.contains(index) else { return makeCredit().add(count) }
    perform(at: index, on: sideWork?.executors?[index].sent) {
      $0.receiveNextMessages(count, context: $1)
    }
  }

  /// Where the writer of messages sent to `index` waits.
  @usableFromInline
  func gate(at index: Int) throws(GRPCStatus) -> InterceptorGate {
    guard isOpen, sideWork?.isEnding != true else { throw .callEnded }
    let next = sideWork?.gate(from: index, towards: Self.towardsTransport)
    return InterceptorGate(executors: sideWork?.room, queue: next ?? transportQueue)
  }
}

// MARK: - Executors

extension InterceptorChain {
  /// Runs an interceptor's work, on its executor if it names one.
  @usableFromInline
  func perform(
    at index: Int,
    on executor: InterceptorExecutor?,
    _ work: @escaping @Sendable (Interceptor, Interceptor.Context) -> Void
  ) {
    if let executor { return hop(executor, index, work) }
    Interceptor.Context.with(self, index) { work(interceptors[index], $0) }
  }

  /// Runs an interceptor's work on its executor, from which it passes the part on.
  @usableFromInline
  func hop(
    _ executor: InterceptorExecutor,
    _ index: Int,
    _ work: @escaping @Sendable (Interceptor, Interceptor.Context) -> Void
  ) {
    // After its `init`, an interceptor with an executor is used only there.
    nonisolated(unsafe) let interceptor = interceptors[index]
    sideWork?.workBegins()
    executor.execute {
      Interceptor.Context.with(self, index) { work(interceptor, $0) }
      self.eventLoop.execute { self.sideWorkIsDone() }
    }
  }
}
