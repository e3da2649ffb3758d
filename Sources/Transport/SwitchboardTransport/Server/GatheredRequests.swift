import SwitchboardCall

/// The large messages of a connection's requests that have begun and are not whole, or whose calls have not begun, and how much
/// is kept of them together.
///
/// ```
///   a little together ──> all go on ──too much──> the oldest goes on, the others wait within their windows
///                              ^───────────────────────────┘   └──far too much──> refused
/// ```
/// Otherwise a client could begin as many of them as it may open streams, each up to the largest message, and end none. That
/// one goes on is what keeps them from waiting for each other. It is not limited by the others. While calls wait for the client
/// to read responses (`UnreadResponses`), only one whose handler runs goes on: the others would be kept whole.
struct GatheredRequests {
  /// What a request may do whose bytes have just been counted.
  enum Verdict { case proceed, wait, refuse }

  /// A message of which no more than this has arrived is not counted, so that small ones never wait for large ones.
  static let small = 64 * 1024

  /// How much all of them may keep before only one goes on.
  private let share: Int
  /// How much the others may keep beside that one. A client that keeps to small windows has no more.
  private let limit: Int
  private(set) var byteCount = 0
  /// From the one that went beyond `small` first.
  private var streams: [ServerCallStream] = []

  init(bufferSize: Int) {
    share = bufferSize / 8
    limit = bufferSize / 2
  }

  /// Whether so much is kept that each stream is to have a small window.
  var isTight: Bool { byteCount > share }

  /// Whether the usual windows are in order again, some way below that.
  var isLoose: Bool { byteCount <= share / 2 }

  /// Counts what a request keeps: more than `small`, which was not so before if it is not counted yet.
  mutating func count(_ kept: Int, of stream: ServerCallStream) -> Verdict {
    if stream.request.counted == 0 { streams.append(stream) }
    byteCount += kept - stream.request.counted
    stream.request.counted = kept
    guard isTight else { return .proceed }
    let oldest = oldest
    guard oldest !== stream else { return .proceed }
    return byteCount - (oldest?.request.counted ?? 0) > limit ? .refuse : .wait
  }

  /// The oldest one that may go on.
  private var oldest: ServerCallStream? { streams.first { $0.mayGoOn } }

  /// Forgets a request that was counted.
  mutating func remove(_ stream: ServerCallStream) {
    byteCount -= stream.request.counted
    stream.request.counted = 0
    streams.removeAll { $0 === stream }
  }

  /// Those that may go on.
  var unhindered: [ServerCallStream] { isTight ? oldest.map { [$0] } ?? [] : streams }
}

extension ServerCallStream {
  /// Whether it needs not wait for the client to read responses.
  fileprivate var mayGoOn: Bool { phase == .handling || !connection.unread.areTooMany }

  /// How much is kept of a message that is not whole, or of one whose call has not begun.
  private var gatheredByteCount: Int {
    // The stored messages: reading them by `inbound`, as the protocol does, takes many times as long.
    let framed = request.messages.filledByteCount + request.messages.single.byteCount
    guard let dialect else { return framed }
    return framed + dialect.byteCount + (request.messages.converter?.gatheredByteCount ?? 0)
  }

  /// Counts what is kept of the request now, and returns how many bytes its client may send again: `credit`, unless the
  /// bytes that have arrived are to wait.
  @inline(__always)
  func gather(_ arrived: Int, credit: Int) -> Int {
    let kept = gatheredByteCount
    guard kept > GatheredRequests.small else {
      stopGathering()
      return credit
    }
    return gather(arrived, kept, credit: credit)
  }

  @inline(never)
  private func gather(_ arrived: Int, _ kept: Int, credit: Int) -> Int {
    let verdict = connection.gathered.count(kept, of: self)
    connection.adaptWindows()
    switch verdict {
    case .proceed: return credit
    case .refuse:
      fail(.requestsTooLargeTogether)
      dropRequest()
      return credit
    case .wait:
      // What waits for its reader is withheld already.
      guard credit >= arrived else { return credit }
      request.withheld += arrived
      return credit - arrived
    }
  }

  /// Called when the message may be whole.
  func gatheredMore() {
    if gatheredByteCount <= GatheredRequests.small { stopGathering() }
  }

  /// No longer counts the request. Others may go on.
  func stopGathering() {
    guard request.counted > 0 else { return }
    connection.gathered.remove(self)
    goOnGathering()
    connection.goOnGathering()
  }

  /// Whether the client may not send on before it reads responses.
  var isHeldBack: Bool { request.withheld > 0 && !mayGoOn }

  /// Lets the client send on.
  fileprivate func goOnGathering() {
    let byteCount = request.withheld
    guard byteCount > 0 else { return }
    request.withheld = 0
    if phase == .closed {
      connection.forget(byteCount)
    } else {
      connection.settle(released: byteCount, on: id)
    }
  }
}

extension ServerConnection {
  /// Lets requests go on that may, after others have ended or responses have been read.
  func goOnGathering() {
    for stream in gathered.unhindered { stream.goOnGathering() }
    adaptWindows()
  }

  /// Gives streams small windows while much is kept of requests that are not whole: clients that can send have not all sent
  /// more than a little.
  fileprivate func adaptWindows() {
    guard let http2 else { return }
    if gathered.isTight {
      http2.limitStreams(to: GatheredRequests.small)
    } else if gathered.isLoose {
      http2.limitStreams(to: nil)
    }
  }
}

extension GRPCStatus {
  fileprivate static let requestsTooLargeTogether = GRPCStatus(
    code: .resourceExhausted,
    message:
      "the requests that the connection has begun and not ended are too large together: more than half of ServerOptions.connectionBufferSize",
    origin: .peer
  )
}
