/// Adapts a sequence to an asynchronous sequence.
@frozen
@usableFromInline package struct ImmediateSequence<Base: Sequence>: AsyncSequence {
  @usableFromInline package typealias Element = Base.Element

  @usableFromInline let base: Base

  @inlinable
  package init(_ base: Base) { self.base = base }

  @inlinable
  package func makeAsyncIterator() -> AsyncIterator { AsyncIterator(base.makeIterator()) }

  @frozen
  @usableFromInline package struct AsyncIterator: AsyncIteratorProtocol {
    @usableFromInline var iterator: Base.Iterator

    @inlinable
    init(_ iterator: Base.Iterator) { self.iterator = iterator }

    @inlinable
    package mutating func next(isolation actor: isolated (any Actor)?) async -> Base.Element? {
      iterator.next()
    }
  }
}

extension ImmediateSequence: Sendable where Base: Sendable {}
