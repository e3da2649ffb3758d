// unsafe: nghttp2: one owner a session, callbacks within one call into it

/// Receives the events of a session. The methods must not call `receive` or `drain`; see `SessionStream`.
protocol SessionDelegate: AnyObject {
  /// Called when the peer opens a stream. `nil` refuses it.
  func sessionDidOpenStream(_ id: Int32) -> (any SessionStream)?
  func sessionDidReceiveGoAway(_ goAway: GoAway)
  func sessionDidReceiveSettings()
  /// Called when the peer has sent a ping, which nghttp2 answers.
  func sessionDidReceivePing()
  /// Called when this side ends a stream or the connection because the peer broke a rule.
  func sessionDidBlamePeer()
  /// Whether the peer has still to read what was sent before.
  var outputWaits: Bool { get }
  /// The time, in nanoseconds.
  var sessionNow: UInt64 { get }
}

/// Leads to a delegate, which is not retained, not even for a call. It is a metatype and not an existential, because
/// loading that would retain it. Nor is it weak, because a weak reference makes every retain of the delegate slow.
struct DelegateLink {
  private let object: Unmanaged<AnyObject>
  private let type: any SessionDelegate.Type

  init<Delegate: SessionDelegate>(_ delegate: Delegate) {
    object = .passUnretained(delegate)
    type = Delegate.self
  }

  @inline(__always)
  func with<Result>(_ body: (any SessionDelegate) -> Result) -> Result {
    let type = type
    return Self.open(object, type, body)
  }

  @inline(__always)
  private static func open<Delegate: SessionDelegate, Result>(
    _ object: Unmanaged<AnyObject>,
    _ type: Delegate.Type,
    _ body: (any SessionDelegate) -> Result
  ) -> Result {
    Unmanaged<Delegate>.fromOpaque(object.toOpaque())._withUnsafeGuaranteedRef { body($0) }
  }
}

/// A GOAWAY frame of the peer.
struct GoAway {
  let lastStream: Int32
  let code: UInt32
  /// The peer's explanation, often empty.
  let reason: String
}
