// unsafe: a chain whose type is known by its codec, because a cast would look the type up for each call

/// The chain that served the last call of a batch, for the next one, if that is of the same method. Empty if the call had no
/// interceptors.
@usableFromInline
package struct LastChain: ~Copyable {
  @usableFromInline var chain: AnyObject?
  /// The identity of the chain's codec, which it retains.
  @usableFromInline var codec: ObjectIdentifier?

  @inlinable
  package init() {}

  @inlinable @inline(__always)
  mutating func put<Request, Response>(_ chain: consuming ServerChain<Request, Response>) {
    codec = ObjectIdentifier(chain.codec)
    self.chain = chain
  }

  /// Removes the chain, and returns it if it has this codec and nothing else refers to it.
  @inlinable @inline(__always)
  mutating func takeUnique<Request, Response>(of codec: ServerCodec<Request, Response>)
    -> ServerChain<Request, Response>?
  {
    let isUnique = isKnownUniquelyReferenced(&chain)
    guard let last = chain.take(), isUnique, self.codec == ObjectIdentifier(codec) else { return nil }
    return unsafeDowncast(last, to: ServerChain<Request, Response>.self)
  }
}
