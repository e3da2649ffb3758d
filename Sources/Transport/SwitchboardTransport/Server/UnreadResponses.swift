import SwitchboardCall
import SwitchboardNetwork

/// How much memory the large responses of a connection take that are complete and that its client has yet to read.
///
/// ```
///   a little ──> calls begin ──too much──> they wait ──the client reads──> they begin
///                                             └──it does not, for too long──> they are refused
/// ```
/// Otherwise a client that opens no window could have as many of them made as it may open streams. The oldest one is not
/// counted: a client that reads a single large response slowly may go on with its other calls meanwhile.
struct UnreadResponses {
  /// A response up to this size is not counted: a stream may keep as much of the messages that its handler writes.
  private let small: Int
  /// How much all of them may take before calls wait.
  private let limit: Int
  private(set) var byteCount = 0
  /// The stream of the oldest one, and how much that is.
  private var oldest: (stream: Int32, byteCount: Int)?

  init(bufferSize: Int, streamBufferSize: Int) {
    small = streamBufferSize
    limit = bufferSize / 2
  }

  /// Whether calls are to wait.
  var areTooMany: Bool { byteCount - (oldest?.byteCount ?? 0) > limit }

  /// Counts the response of a stream, and returns what to remove when it has been read.
  mutating func add(_ size: Int, of stream: Int32) -> Int {
    guard size > small else { return 0 }
    byteCount += size
    if oldest == nil { oldest = (stream, size) }
    return size
  }

  /// `next` returns the oldest one that is left.
  mutating func remove(_ counted: Int, of stream: Int32, _ next: () -> (stream: Int32, byteCount: Int)?) {
    byteCount -= counted
    if oldest?.stream == stream { oldest = next() }
  }
}

extension ServerCallStream {
  /// Counts a response that is complete, until it has been read.
  @inline(__always)
  func responseWaits() {
    if response.counted == 0 {
      response.counted = connection.unread.add(response.body.unreadByteCount, of: id)
    }
  }

  /// Has a call whose request is there wait until its client reads the responses of others.
  func waitForReader() {
    request.waitsForReader = true
    startDeadline()
    limitRequest()
    keepLent()
  }

  /// No longer counts the response, since the stream is closed. Calls that wait may begin.
  func responseIsGone() {
    guard response.counted > 0 else { return }
    let wereTooMany = connection.unread.areTooMany
    let counted = response.counted
    response.counted = 0
    connection.unread.remove(counted, of: id) {
      // The list begins with the latest.
      connection.callsInProgress.last { $0.response.counted > 0 }.map { ($0.id, $0.response.counted) }
    }
    guard wereTooMany, !connection.unread.areTooMany else { return }
    for stream in connection.callsInProgress.reversed() where stream.request.waitsForReader {
      stream.request.waitsForReader = false
      stream.proceed()
    }
    connection.goOnGathering()
  }
}

extension GRPCStatus {
  static let responsesNotRead = GRPCStatus(
    code: .resourceExhausted,
    message:
      "the client does not read the responses of its other calls on the connection: more than half of ServerOptions.connectionBufferSize waits for it, besides the oldest",
    origin: .peer
  )
}
