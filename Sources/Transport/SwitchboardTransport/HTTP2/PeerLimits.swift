/// What the peer's settings allow this side. Read for each call, so nghttp2 is not asked.
struct PeerLimits {
  /// The largest header block that this side may send, as HTTP/2 counts its size: the lesser of the peer's limit and
  /// nghttp2's.
  let headerList: Int
  /// How many streams the peer accepts at a time.
  let streams: Int

  /// Before the peer's settings have arrived.
  static let unknown = PeerLimits(headerList: SessionSettings.largestSentHeaders, streams: 0)

  init(headerList: Int, streams: Int) {
    self.headerList = min(headerList, SessionSettings.largestSentHeaders)
    self.streams = streams
  }
}
