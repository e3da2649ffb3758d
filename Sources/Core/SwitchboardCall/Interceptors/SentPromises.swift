/// The promises of parts on their way to the network. Most calls have none, and only count messages.
@frozen
@usableFromInline struct SentPromises {
  @usableFromInline final class Kept {
    var metadata: EventLoopPromise<Void>?
    var end: EventLoopPromise<Void>?
    /// The promises of messages, with the numbers of the messages in the stream.
    var messages: [(number: Int, promise: EventLoopPromise<Void>)] = []

    var isEmpty: Bool { metadata == nil && end == nil && messages.isEmpty }
  }

  @usableFromInline private(set) var kept: Kept?
  @usableFromInline private(set) var added = 0
  @usableFromInline private(set) var sent = 0

  @inlinable @inline(__always)
  init() {}

  var isEmpty: Bool { kept == nil }

  /// Whether a message has gone to the transport.
  var hasMessages: Bool { added > 0 }

  /// Records that the metadata has gone to the transport.
  @inline(__always)
  mutating func addMetadata(_ promise: EventLoopPromise<Void>?) {
    if let promise { keep { $0.metadata = promise } }
  }

  /// Records that a message has gone to the transport.
  @inline(__always)
  mutating func add(_ promise: EventLoopPromise<Void>?) {
    added &+= 1
    let number = added
    if let promise { keep { $0.messages.append((number, promise)) } }
  }

  /// Records that the end has gone to the transport.
  @inline(__always)
  mutating func addEnd(_ promise: EventLoopPromise<Void>?) {
    if let promise { keep { $0.end = promise } }
  }

  @inline(never)
  private mutating func keep(_ add: (Kept) -> Void) {
    let kept = kept ?? Kept()
    add(kept)
    self.kept = kept
  }

  /// Completes the promises of a sent part and of all earlier ones: later, because the transport may still be at work.
  mutating func complete(_ part: SentPart, on eventLoop: @autoclosure () -> any EventLoop) {
    if part == .message { sent += 1 }
    guard let kept else { return }
    let done = take(part, from: kept)
    if kept.isEmpty { self.kept = nil }
    guard !done.isEmpty else { return }
    eventLoop().execute { for promise in done { promise.succeed() } }
  }

  private func take(_ part: SentPart, from kept: Kept) -> [EventLoopPromise<Void>] {
    var done: [EventLoopPromise<Void>] = []
    if let promise = kept.metadata { done.append(promise) }
    kept.metadata = nil
    while let first = kept.messages.first, first.number <= sent || part == .end {
      done.append(first.promise)
      kept.messages.removeFirst()
    }
    if part == .end, let promise = kept.end {
      done.append(promise)
      kept.end = nil
    }
    return done
  }

  mutating func failAll(_ status: GRPCStatus) {
    guard let kept else { return }
    self = SentPromises()
    kept.metadata?.fail(status)
    for message in kept.messages { message.promise.fail(status) }
    kept.end?.fail(status)
  }
}
