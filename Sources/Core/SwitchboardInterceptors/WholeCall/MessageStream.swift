import SwitchboardCall

/// Messages from any source. They can be read once.
public struct MessageStream<Message: Sendable>: AsyncSequence, Sendable {
  public typealias Element = Message

  private let makeIterator: @Sendable () -> AsyncIterator

  /// The messages of any asynchronous sequence.
  public init<Messages: AsyncSequence & Sendable>(_ messages: Messages) where Messages.Element == Message {
    makeIterator = { AsyncIterator(Throwing(iterator: messages.makeAsyncIterator())) }
  }

  /// Messages that are already available.
  public init<Messages: Sequence<Message> & Sendable>(of messages: Messages) {
    self.init(ImmediateSequence(messages))
  }

  public func makeAsyncIterator() -> AsyncIterator { makeIterator() }

  public struct AsyncIterator: AsyncIteratorProtocol {
    private var iterator: any AsyncIteratorProtocol<Message, any Error>

    fileprivate init(_ iterator: some AsyncIteratorProtocol<Message, any Error>) {
      self.iterator = iterator
    }

    public mutating func next(isolation actor: isolated (any Actor)?) async throws -> Message? {
      try await iterator.next(isolation: actor)
    }
  }

  /// Wraps iterators that cannot fail, so that all iterators have the same type.
  private struct Throwing<Iterator: AsyncIteratorProtocol>: AsyncIteratorProtocol
  where Iterator.Element == Message {
    var iterator: Iterator

    mutating func next(isolation actor: isolated (any Actor)?) async throws -> Message? {
      try await iterator.next(isolation: actor)
    }
  }
}
