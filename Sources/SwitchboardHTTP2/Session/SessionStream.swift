import SwitchboardCall

/// One HTTP/2 stream, as the session's callbacks see it. Servers and clients subclass it.
///
/// Whatever a callback reaches must only note what happened: nothing here may call back into `receive` or
/// `drain`. Submitting frames is allowed.
class SessionStream: LoopTask {
  // Unchecked exclusivity here and in subclasses: a stream is confined to its connection's loop.
  @exclusivity(unchecked) final var id: Int32 = -1

  /// Whether it waits for its `processReady`.
  @exclusivity(unchecked) final var isReady = false

  // The session's list of open streams; the session keeps each stream in it alive.
  @exclusivity(unchecked) fileprivate final var previous: Unmanaged<SessionStream>?
  @exclusivity(unchecked) fileprivate final var next: Unmanaged<SessionStream>?

  typealias Bytes = UnsafeBufferPointer<UInt8>

  /// A field of a block of headers, which the stream may keep in `fields`.
  func receiveHeader(_ name: Bytes, _ value: Bytes, _ fields: FieldCollector) {}

  /// A block of headers is whole: the request, a response, or trailers.
  func headersDidEnd(endsStream: Bool, _ fields: FieldCollector) {}

  /// Bytes that are lent until the connection has gone through its ready streams.
  func receiveData(_ bytes: UnsafeRawBufferPointer) {}

  func remoteDidEnd() {}

  /// Headers of ours cannot be sent: the stream ends without them.
  func headersWereRefused(_ status: GRPCStatus) {}

  /// Our side's last frame was handed to the connection.
  func localDidEnd() {}

  /// Told exactly once, last.
  func didClose(_ code: UInt32) {}

  /// The next piece of the body, at most `buffer.count` bytes of it.
  func readBody(into buffer: UnsafeMutableRawBufferPointer) -> BodyRead { .last(0) }

  /// The piece that `readBody` announced with `borrowed`.
  func takeBorrowed(_ count: Int) -> (MessageBuffer, UnsafeRawBufferPointer)? { nil }

  /// What ends the stream after its body. `headers` hold what was submitted last until they are reset.
  func trailers(into headers: HeaderWriter) -> Trailers { .none }

  /// What a callback put off until the session has taken in all that was read.
  func processReady() {}
}

enum Trailers {
  case none
  case constant(ConstantHeaders)
  /// They were written to the headers given.
  case written
}

/// What a stream has to send now.
enum BodyRead {
  /// This many bytes were copied; there may be more.
  case copied(Int)
  /// This many bytes are to be sent from where they are; `takeBorrowed` gives them. Where they are known to be the last,
  /// no empty frame need follow to say so.
  case borrowed(Int, isLast: Bool)
  /// Nothing now; the stream resumes the session when there is.
  case wait
  /// This many bytes were copied, and they are the last.
  case last(Int)
}

/// The open streams of one session, each retained once: nghttp2 tells of no stream's end when a session is
/// given up, so that the session must know them itself.
struct StreamList {
  // The links are unmanaged because membership itself is the reference: `insert` retains, `remove` hands
  // that reference to the caller.
  private var first: Unmanaged<SessionStream>?
  private(set) var count = 0

  /// Returns the pointer under which nghttp2 is to know the stream.
  mutating func insert(_ stream: SessionStream) -> UnsafeMutableRawPointer {
    let link = Unmanaged.passRetained(stream)
    stream.next = first
    stream.previous = nil
    first?._withUnsafeGuaranteedRef { $0.previous = link }
    first = link
    count += 1
    return link.toOpaque()
  }

  mutating func remove(_ data: UnsafeMutableRawPointer) -> SessionStream {
    let stream = Unmanaged<SessionStream>.fromOpaque(data).takeRetainedValue()
    let (previous, next) = (stream.previous, stream.next)
    if let previous { previous._withUnsafeGuaranteedRef { $0.next = next } } else { first = next }
    next?._withUnsafeGuaranteedRef { $0.previous = previous }
    stream.next = nil
    stream.previous = nil
    count -= 1
    return stream
  }

  mutating func removeAny() -> SessionStream? {
    first.map { remove($0.toOpaque()) }
  }

  func forEach(_ body: (SessionStream) -> Void) {
    var link = first
    while let stream = link?.takeUnretainedValue() {
      link = stream.next
      body(stream)
    }
  }
}
