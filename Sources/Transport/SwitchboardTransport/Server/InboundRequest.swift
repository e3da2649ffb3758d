// unsafe: bytes of a body that a session lends for one call

import SwitchboardCall

/// What arrives of a request after its head: messages for a handler, or bytes for a page.
///
/// ```
///   arriving ──the reader has all of it──> read
///      └──a failure──> failed: what still arrives is ignored
/// ```
struct InboundRequest {
  var messages: InboundMessages
  /// Why the request failed.
  private(set) var failure: GRPCStatus?
  /// How much of it `GatheredRequests` counts; zero if the request is not among them.
  var counted = 0
  /// The bytes that its client may not send again before other requests of the connection have ended.
  var withheld = 0
  /// Whether its call waits until the client has read responses of others.
  var waitsForReader = false
  /// The body of a request that a page answers.
  private var page: [UInt8] = []

  init(limit: Int) { messages = InboundMessages(limit: .request(limit)) }

  mutating func fail(_ status: GRPCStatus) { failure = status }

  // Inlined, so that the stream copies nothing to ask.

  /// Whether the reader has everything that it will get, if nothing more arrives.
  @inline(__always) var isRead: Bool { messages.isEmpty || failure != nil }

  /// Whether the request is incomplete, if nothing more arrives.
  @inline(__always) var isTruncated: Bool { failure == nil && messages.isInsideMessage }

  /// Whether it takes so much memory that it is released as soon as its handlers have returned.
  @inline(__always) var isLarge: Bool {
    if case .decoded = messages.single { return true }
    return messages.hasInflated
  }

  /// Reports the messages that arrived before their call was followed: the only one, or the first of a stream, whose sizes
  /// are not stored.
  func reportEarlier(to tracer: any CallTracer, areStreamed: Bool) {
    let earlier = messages.totals
    for _ in 0..<earlier.messages {
      let size = areStreamed ? earlier.bytes / earlier.messages - 5 : messages.single.byteCount
      tracer.messageReceived(max(0, size))
    }
  }

  // MARK: For a page

  /// Keeps bytes for the page. Drops all of them and returns `false` if they are more than its limit.
  mutating func keep(_ bytes: UnsafeRawBufferPointer, upTo limit: Int) -> Bool {
    guard page.count + bytes.count <= limit else {
      page = []
      return false
    }
    page += bytes
    return true
  }

  /// How much is kept for the page.
  var pageByteCount: Int { page.count }

  /// Forgets what was kept for the page.
  mutating func dropPage() { page = [] }

  mutating func takePage() -> [UInt8] {
    defer { page = [] }
    return page
  }
}
