/// A sequence that is read as if its elements came over time.
@frozen
public struct ImmediateSequence<Base: Sequence>: AsyncSequence {
  public typealias Element = Base.Element

  @usableFromInline let base: Base

  /// The elements of `base`, in order.
  @inlinable
  public init(_ base: Base) {
    self.base = base
  }

  @inlinable
  public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(base.makeIterator()) }

  @frozen
  public struct AsyncIterator: AsyncIteratorProtocol {
    @usableFromInline var iterator: Base.Iterator

    @inlinable
    init(_ iterator: Base.Iterator) {
      self.iterator = iterator
    }

    @inlinable
    public mutating func next(isolation actor: isolated (any Actor)?) async -> Base.Element? {
      iterator.next()
    }
  }
}

extension ImmediateSequence: Sendable where Base: Sendable {}
