import HTTP2TestSupport

/// The expected response to a conformance case. As RFC 9113 allows, the server may close the connection for a stream
/// error, and may close it without GOAWAY.
enum Expectation: Equatable {
  enum Code: UInt32 {
    case protocolError = 1
    case flowControl = 3
    case streamClosed = 5
    case frameSize = 6
    case refusedStream = 7
    case compression = 9
  }

  /// GOAWAY with this code, or with the alternative that the standard allows.
  case connectionError(Code, or: Code? = nil)
  /// The same, or RST_STREAM.
  case streamError(Code, or: Code? = nil)
  /// The headers of a response on this stream.
  case response(stream: UInt32 = 1)
  case pingAnswer([UInt8])
  /// The acknowledgment of a ping, or the end of a connection that is no longer used.
  case pingAnswerOrEnd
  case settingsAcknowledged
  /// DATA, with this many bytes in the first frame and this many in total.
  case data(first: Int, total: Int)
  case closed

  /// What is wrong: the last frame that was unexpected, or that none came.
  func complaint(after dialogue: Dialogue) -> String? {
    if isMetByClosing { dialogue.probe() }
    var last: FramePeer.Frame?
    var sizes: [Int] = []
    while let frame = dialogue.next() {
      switch judge(frame, &sizes, dialogue) {
      case .met: return nil
      case .broken(let why): return why
      case .open: last = frame
      }
    }
    return isMetByClosing ? nil : "\(self) was expected; the connection ended, after \(text(last))"
  }

  private enum Verdict {
    case met, open
    case broken(String)
  }

  private func judge(_ frame: FramePeer.Frame, _ sizes: inout [Int], _ dialogue: Dialogue) -> Verdict {
    typealias Kind = FramePeer.Kind
    switch (self, frame.type) {
    case (.connectionError(let code, let other), Kind.goAway),
      (.streamError(let code, let other), Kind.goAway):
      return judge(frame.payload.dropFirst(4).prefix(4), [code, other], frame)
    case (.streamError(let code, let other), Kind.resetStream):
      return judge(frame.payload[...], [code, other], frame)
    case (.response(let stream), Kind.headers) where frame.stream == stream:
      return .met
    case (.pingAnswer(let payload), Kind.ping) where frame.flags & 1 == 1 && frame.payload == payload:
      return .met
    case (.pingAnswerOrEnd, Kind.ping) where frame.flags & 1 == 1:
      return .met
    case (.settingsAcknowledged, Kind.settings) where frame.flags & 1 == 1:
      return .met
    case (.data(let first, let total), Kind.data):
      sizes.append(frame.payload.count)
      let sum = sizes.reduce(0, +)
      guard sizes[0] == first, sum <= total else { return .broken("\(self) was expected, not \(sizes)") }
      return sum == total ? .met : .open
    case (.closed, Kind.goAway), (.pingAnswerOrEnd, Kind.goAway):
      return .met
    case (_, Kind.ping) where isMetByClosing && frame.payload == Dialogue.probe && dialogue.probeAgain():
      return .open
    case (_, Kind.ping) where isMetByClosing && frame.payload == Dialogue.probe:
      return .broken("\(self) was expected, and the connection goes on as if nothing were wrong")
    case (_, Kind.goAway):
      return .broken("\(self) was expected, not \(text(frame))")
    default:
      return .open
    }
  }

  private func judge(_ code: ArraySlice<UInt8>, _ wanted: [Code?], _ frame: FramePeer.Frame) -> Verdict {
    let found = code.reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
    return wanted.contains { $0?.rawValue == found }
      ? .met : .broken("\(self) was expected, not \(text(frame))")
  }

  private var isMetByClosing: Bool {
    switch self {
    case .connectionError, .streamError, .closed, .pingAnswerOrEnd: true
    case .response, .pingAnswer, .settingsAcknowledged, .data: false
    }
  }

  private func text(_ frame: FramePeer.Frame?) -> String {
    guard let frame else { return "nothing at all" }
    return "a frame of type \(frame.type) on stream \(frame.stream) with \(frame.payload.prefix(40))"
  }
}
