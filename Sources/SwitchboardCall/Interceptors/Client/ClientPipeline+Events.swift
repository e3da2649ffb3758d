// What goes through the chain beside parts.
extension ClientPipeline {
  @usableFromInline
  func errorCaught(_ error: any Error, at index: Int) {
    guard eventLoop.isHere else {
      return eventLoop.execute { self.errorCaught(error, at: index) }
    }
    guard isOpen else { return }
    guard index >= 0 else { return deliver(.end(GRPCStatus(describing: error), HPACKHeaders())) }
    if let executor = sideWork?.executors?[index].responses {
      return hop(executor, index) { $0.errorCaught(error, context: $1) }
    }
    chain.interceptors[index].errorCaught(error, context: Context(self, index))
  }

  @usableFromInline
  func cancel(promise: EventLoopPromise<Void>?, to index: Int) {
    guard eventLoop.isHere else {
      return eventLoop.execute { self.cancel(promise: promise, to: index) }
    }
    guard isOpen else {
      promise?.fail(GRPCStatus.callEnded)
      return
    }
    guard index <= chain.last else {
      stop(reason ?? .cancelledByCaller)
      promise?.succeed()
      return
    }
    if let executor = sideWork?.executors?[index].requests {
      return hop(executor, index) { $0.cancel(promise: promise, context: $1) }
    }
    chain.interceptors[index].cancel(promise: promise, context: Context(self, index))
  }

  /// Asks for so many responses, where they stream.
  @usableFromInline
  func receiveNextMessages(_ count: Int, to index: Int) {
    guard eventLoop.isHere else {
      return eventLoop.execute { self.receiveNextMessages(count, to: index) }
    }
    guard isOpen else { return }
    guard index <= chain.last else { return addDemand(count) }
    if let executor = sideWork?.executors?[index].requests {
      return hop(executor, index) { $0.receiveNextMessages(count, context: $1) }
    }
    chain.interceptors[index].receiveNextMessages(count, context: Context(self, index))
  }

  /// Where streamed requests wait that come from the interceptor at `index`, or from the caller at -1. A chain that
  /// still holds the metadata back has no place yet.
  @usableFromInline
  func nextGate(after index: Int) throws -> InterceptorGate {
    guard isOpen, sideWork?.isEnding != true else { throw GRPCStatus.callEnded }
    let next = sideWork?.gates.first { $0.index > index }
    return InterceptorGate(executors: sideWork?.room, queue: next?.queue() ?? requests)
  }
}
