/// The promises of parts that are on their way to the network.
struct SentPromises {
  var metadata: EventLoopPromise<Void>?
  var end: EventLoopPromise<Void>?
  /// Of messages, with the number that each has in the stream.
  private var messages: [(number: Int, promise: EventLoopPromise<Void>)] = []
  private var added = 0
  private var sent = 0

  var isEmpty: Bool { metadata == nil && end == nil && messages.isEmpty }

  /// Notes that a message went to the transport.
  mutating func add(_ promise: EventLoopPromise<Void>?) {
    added += 1
    if let promise { messages.append((added, promise)) }
  }

  /// The transport sent a part, and with it all that were before. It may say so from within its own work, so that
  /// promises are kept afterwards.
  mutating func complete(_ part: SentPart, on eventLoop: any EventLoop) {
    let done = take(part)
    guard !done.isEmpty else { return }
    eventLoop.execute { for promise in done { promise.succeed() } }
  }

  private mutating func take(_ part: SentPart) -> [EventLoopPromise<Void>] {
    if part == .message { sent += 1 }
    guard !isEmpty else { return [] }
    var done: [EventLoopPromise<Void>] = []
    if let promise = metadata { done.append(promise) }
    metadata = nil
    while let first = messages.first, first.number <= sent || part == .end {
      done.append(first.promise)
      messages.removeFirst()
    }
    if part == .end, let promise = end {
      done.append(promise)
      end = nil
    }
    return done
  }

  mutating func failAll(_ status: GRPCStatus) {
    guard !isEmpty else { return }
    metadata?.fail(status)
    for message in messages { message.promise.fail(status) }
    end?.fail(status)
    self = SentPromises()
  }
}
