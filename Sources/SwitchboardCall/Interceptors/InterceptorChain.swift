/// The chain of interceptors of one call, between the application, which is a caller or a handler, and the transport.
///
/// ```
///   application ──send──> interceptor ──> … ──> marshaller ──> transport
///   application <───────── interceptor <── … <── marshaller <── transport
/// ```
/// This is all that a chain does with parts, the same on both sides. The client's and the server's add what is at the two
/// ends. A part that is handed to a place without an interceptor leaves the chain: a sent one for the transport, a received
/// one for the application.
@usableFromInline
protocol InterceptorChain<Interceptor>: Sendable where Self: ChainedInterceptors<Interceptor> {
  associatedtype Interceptor: ChainedInterceptor

  /// The way from one place to the next one towards the transport: 1 or -1.
  static var towardsTransport: Int { get }

  func context(at index: Int) -> Interceptor.Context

  // Handing a part to the place at `index`, on the loop. Each side has these two of its own: written here, each place would
  // count a reference to the chain.
  func sendOnLoop(_ part: Interceptor.Sent, promise: EventLoopPromise<Void>?, to index: Int)
  func receiveOnLoop(_ part: Interceptor.Received, at index: Int)

  // The ends of the chain.
  func transmit(_ part: Interceptor.Sent, _ promise: EventLoopPromise<Void>?)
  func deliver(_ part: Interceptor.Received)
  func deliver(failure: any Error)
  /// Where what is sent waits that no interceptor takes in.
  var transportQueue: (any WriterRoom)? { get }
  /// What an interceptor did on its own executor is done.
  func sideWorkIsDone()
}

/// What a chain asks of an interceptor, whichever side it is on.
@usableFromInline
protocol ChainedInterceptor: AnyObject, SendableMetatype {
  /// Parts on their way to the transport.
  associatedtype Sent: Sendable
  /// Parts on their way to the application.
  associatedtype Received: Sendable
  associatedtype Context: Sendable

  func send(_ part: Sent, promise: EventLoopPromise<Void>?, context: Context)
  func receive(_ part: Received, context: Context)
  func errorCaught(_ error: any Error, context: Context)
  func receiveNextMessages(_ count: Int, context: Context)
  var executors: InterceptorExecutors { get }
}

/// What a chain holds on either side. A class, as what a protocol requires would be copied at each access.
@usableFromInline
class ChainedInterceptors<Interceptor: ChainedInterceptor>: @unchecked Sendable {
  // Sendable holds because everything is touched on the event loop alone. Unchecked exclusivity holds because no access lasts
  // while other code runs.

  @usableFromInline final let eventLoop: any EventLoop
  @exclusivity(unchecked) @usableFromInline final var interceptors: InterceptorList<Interceptor>
  /// What few chains have.
  @exclusivity(unchecked) @usableFromInline final var sideWork: SideWork?
  /// Whether parts may still pass.
  @exclusivity(unchecked) @usableFromInline final var isOpen = true
  /// How many more messages the transport may bring to the chain. Made when it is needed: most calls stream none.
  @exclusivity(unchecked) @usableFromInline final var credit: Credit?

  @inlinable @inline(__always)
  init(_ interceptors: consuming [Interceptor], on eventLoop: any EventLoop) {
    self.interceptors = InterceptorList(interceptors)
    self.eventLoop = eventLoop
    for index in 0..<(self.interceptors.last + 1)
    where self.interceptors.uncounted(index)._withUnsafeGuaranteedRef({ $0.executors.areNamed }) {
      sideWork = SideWork(executors: self.interceptors.all.map(\.executors))
      self.interceptors.takeDetours()
      break
    }
  }

  @usableFromInline
  final func makeCredit() -> Credit {
    let credit = credit ?? Credit()
    self.credit = credit
    return credit
  }

  /// Releases the interceptors, and with them every part that one of them kept.
  @usableFromInline
  final func releaseInterceptors() { _ = interceptors.takeAll() }
}

// MARK: - Parts

extension InterceptorChain {
  /// Where the application's parts enter.
  @inlinable @inline(__always)
  var applicationEnd: Int { Self.towardsTransport > 0 ? 0 : interceptors.last }

  /// Where the transport's parts enter.
  @inlinable @inline(__always)
  var transportEnd: Int { Self.towardsTransport > 0 ? interceptors.last : 0 }

  /// Hands the application's part to the chain. On the loop.
  @inlinable @inline(__always)
  func sendFirst(_ part: Interceptor.Sent) {
    let hasEntered = interceptors.enter()
    sendOnLoop(part, promise: nil, to: applicationEnd)
    leave(hasEntered)
  }

  /// Hands the transport's part to the chain. On the loop.
  @inlinable @inline(__always)
  func receiveFirst(_ part: Interceptor.Received) {
    let hasEntered = interceptors.enter()
    receiveOnLoop(part, at: transportEnd)
    leave(hasEntered)
  }

  @inlinable @inline(__always)
  func leave(_ hasEntered: Bool) {
    guard hasEntered else { return }
    interceptors.leave()
    if !isOpen { releaseInterceptors() }
  }

  @inlinable @inline(__always)
  func send(_ part: Interceptor.Sent, promise: EventLoopPromise<Void>?, to index: Int) {
    if eventLoop.isOfThread { return sendOnLoop(part, promise: promise, to: index) }
    sendLater(part, promise, index)
  }

  /// On another thread, as far as that tells.
  @inlinable @inline(never)
  func sendLater(_ part: Interceptor.Sent, _ promise: EventLoopPromise<Void>?, _ index: Int) {
    if eventLoop.inEventLoop { return sendOnLoop(part, promise: promise, to: index) }
    eventLoop.execute { self.sendOnLoop(part, promise: promise, to: index) }
  }

  /// Hands on what no interceptor takes on the loop. Apart, so that what is above stays small for each interceptor.
  @inlinable @inline(never)
  func sendOn(_ part: Interceptor.Sent, _ promise: EventLoopPromise<Void>?, _ index: Int) {
    guard isOpen else {
      promise?.fail(GRPCStatus.callEnded)
      return
    }
    guard interceptors.contains(index) else { return transmit(part, promise) }
    if let executor = sideWork?.executors?[index].sent {
      return hop(executor, index) { $0.send(part, promise: promise, context: $1) }
    }
    let hasEntered = interceptors.enter()
    interceptors[index].send(part, promise: promise, context: context(at: index))
    leave(hasEntered)
  }

  @inlinable @inline(__always)
  func receive(_ part: Interceptor.Received, at index: Int) {
    if eventLoop.isOfThread { return receiveOnLoop(part, at: index) }
    receiveLater(part, index)
  }

  /// On another thread, as far as that tells.
  @inlinable @inline(never)
  func receiveLater(_ part: Interceptor.Received, _ index: Int) {
    if eventLoop.inEventLoop { return receiveOnLoop(part, at: index) }
    eventLoop.execute { self.receiveOnLoop(part, at: index) }
  }

  @inlinable @inline(never)
  func receiveOn(_ part: Interceptor.Received, _ index: Int) {
    guard isOpen else { return }
    guard interceptors.contains(index) else { return deliver(part) }
    if let executor = sideWork?.executors?[index].received {
      return hop(executor, index) { $0.receive(part, context: $1) }
    }
    let hasEntered = interceptors.enter()
    interceptors[index].receive(part, context: context(at: index))
    leave(hasEntered)
  }
}

// MARK: - What passes beside parts

extension InterceptorChain {
  @usableFromInline
  func errorCaught(_ error: any Error, at index: Int) {
    guard eventLoop.isHere else {
      return eventLoop.execute { self.errorCaught(error, at: index) }
    }
    guard isOpen else { return }
    guard interceptors.contains(index) else { return deliver(failure: error) }
    perform(at: index, on: sideWork?.executors?[index].received) { $0.errorCaught(error, context: $1) }
  }

  /// Asks for so many more messages, where they stream.
  @usableFromInline
  func receiveNextMessages(_ count: Int, to index: Int) {
    guard eventLoop.isHere else {
      return eventLoop.execute { self.receiveNextMessages(count, to: index) }
    }
    guard isOpen else { return }
    guard interceptors.contains(index) else { return makeCredit().add(count) }
    perform(at: index, on: sideWork?.executors?[index].sent) { $0.receiveNextMessages(count, context: $1) }
  }

  /// Where streamed messages wait that are sent to the place at `index`.
  @usableFromInline
  func gate(at index: Int) throws(GRPCStatus) -> InterceptorGate {
    guard isOpen, sideWork?.isEnding != true else { throw .callEnded }
    let next = sideWork?.gate(from: index, towards: Self.towardsTransport)
    return InterceptorGate(executors: sideWork?.room, queue: next ?? transportQueue)
  }
}

// MARK: - Executors

extension InterceptorChain {
  /// Has an interceptor do something, on its own executor if it names one.
  @usableFromInline
  func perform(
    at index: Int,
    on executor: InterceptorExecutor?,
    _ work: @escaping @Sendable (Interceptor, Interceptor.Context) -> Void
  ) {
    if let executor { hop(executor, index, work) } else { work(interceptors[index], context(at: index)) }
  }

  /// Has an interceptor do its part on its own executor; it hands the part on from there.
  @usableFromInline
  func hop(
    _ executor: InterceptorExecutor,
    _ index: Int,
    _ work: @escaping @Sendable (Interceptor, Interceptor.Context) -> Void
  ) {
    // An interceptor that names an executor is used there; what it does before is its `init`.
    nonisolated(unsafe) let interceptor = interceptors[index]
    sideWork?.workBegins()
    executor.execute {
      work(interceptor, self.context(at: index))
      self.eventLoop.execute { self.sideWorkIsDone() }
    }
  }
}
