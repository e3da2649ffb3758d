// unsafe: nghttp2: one owner a session, callbacks within one call into it

/// The base class of all streams, with the data that a session and a connection store in each.
///
/// nghttp2 knows a stream only by the address of this object. `type` leads from the address to the methods of
/// `SessionStream`.
class StreamEntry {
  // Unchecked exclusivity here and in subclasses: a stream is confined to its connection's loop.
  @exclusivity(unchecked) final var id: Int32 = -1

  /// Whether the stream is in its connection's list of ready streams.
  @exclusivity(unchecked) final var isReady = false

  /// The stream's class, from when a session first lists it. A metatype and not an existential of the stream itself,
  /// because loading that would retain the stream for each event.
  @exclusivity(unchecked) fileprivate final var type: (any SessionStream.Type)?

  // The links of `StreamList`.
  @exclusivity(unchecked) fileprivate final var previous: Unmanaged<StreamEntry>?
  @exclusivity(unchecked) fileprivate final var next: Unmanaged<StreamEntry>?
}

extension Unmanaged<StreamEntry> {
  /// Calls `body` with the stream, which a session must have listed. The stream is not retained.
  @inline(__always)
  func withStream<Result>(_ body: (any SessionStream) -> Result) -> Result {
    // Not nil: `StreamList.insert` sets the type before it returns the address, which nothing else reveals.
    let type = _withUnsafeGuaranteedRef { $0.type.unsafelyUnwrapped }
    return Self.with(toOpaque(), as: type, body)
  }

  @inline(__always)
  private static func with<Stream: SessionStream, Result>(
    _ address: UnsafeMutableRawPointer,
    as type: Stream.Type,
    _ body: (any SessionStream) -> Result
  ) -> Result {
    Unmanaged<Stream>.fromOpaque(address)._withUnsafeGuaranteedRef { body($0) }
  }
}

/// The open streams of a connection, each retained once. nghttp2 reports no stream's end when a session is abandoned, so
/// the connection has a list of its own, for both versions of HTTP.
final class StreamList {
  // The links are unmanaged because membership itself is the reference: `insert` retains the stream, and `remove`
  // passes that reference to the caller.
  @exclusivity(unchecked) private var first: Unmanaged<StreamEntry>?
  @exclusivity(unchecked) private(set) var count = 0

  // Connections end their streams first. The list counts a reference to each of those that are left.
  deinit { while removeAny() != nil {} }

  /// Returns the address by which nghttp2 is to know the stream.
  func insert<Stream: SessionStream>(_ stream: consuming Stream) -> UnsafeMutableRawPointer {
    stream.type = Stream.self
    stream.next = first
    stream.previous = nil
    let link = Unmanaged<StreamEntry>.passRetained(stream)
    first?._withUnsafeGuaranteedRef { $0.previous = link }
    first = link
    count += 1
    return link.toOpaque()
  }

  func remove(_ address: UnsafeMutableRawPointer) -> StreamEntry {
    let stream = Unmanaged<StreamEntry>.fromOpaque(address).takeRetainedValue()
    let (previous, next) = (stream.previous, stream.next)
    if let previous { previous._withUnsafeGuaranteedRef { $0.next = next } } else { first = next }
    next?._withUnsafeGuaranteedRef { $0.previous = previous }
    stream.next = nil
    stream.previous = nil
    count -= 1
    return stream
  }

  func remove(_ stream: StreamEntry) { _ = remove(Unmanaged.passUnretained(stream).toOpaque()) }

  private func removeAny() -> StreamEntry? {
    first.map { remove($0.toOpaque()) }
  }

  /// Removes a stream, which closes with this code.
  func end(_ stream: StreamEntry, _ code: UInt32) {
    end(Unmanaged.passUnretained(stream).toOpaque(), code)
  }

  /// Removes the stream at an address, which closes with this code.
  func end(_ address: UnsafeMutableRawPointer, _ code: UInt32) {
    let stream = remove(address)
    withExtendedLifetime(stream) {
      Unmanaged.passUnretained(stream).withStream { $0.didClose(code) }
    }
  }

  /// Ends all streams, because the connection has closed.
  func endAll(_ willEnd: (StreamEntry) -> Void = { _ in }) {
    while let first {
      first._withUnsafeGuaranteedRef { willEnd($0) }
      end(first.toOpaque(), HTTP2Error.internalError.rawValue)
    }
  }

  func forEach(_ body: (StreamEntry) -> Void) {
    var link = first
    while let stream = link?.takeUnretainedValue() {
      link = stream.next
      body(stream)
    }
  }
}
