/// Which sides may still send on an HTTP/2 stream.
///
/// ```
///          ┌──our last frame───> localEnded ───its last frame──┐
///   open ──┤                                                   ├──> ended
///          └──its last frame──> remoteEnded ──our last frame───┘
/// ```
/// When the stream closes, each state leads to `closed` if the peer has sent its last frame, and otherwise to `cut`.
enum StreamState: Equatable {
  case open, localEnded, remoteEnded, ended, closed
  case cut(code: UInt32)

  var hasLocalEnded: Bool { self == .localEnded || self == .ended }
  var hasRemoteEnded: Bool { self == .remoteEnded || self == .ended || self == .closed }
  var isClosed: Bool { if case .cut = self { true } else { self == .closed } }

  mutating func localDidEnd() {
    switch self {
    case .open: self = .localEnded
    case .remoteEnded: self = .ended
    default: break
    }
  }

  mutating func remoteDidEnd() {
    switch self {
    case .open: self = .remoteEnded
    case .localEnded: self = .ended
    default: break
    }
  }

  mutating func didClose(_ code: UInt32) { self = hasRemoteEnded ? .closed : .cut(code: code) }
}
