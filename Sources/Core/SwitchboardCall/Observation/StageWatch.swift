/// What happens to a served call between its transport and its handler.
@usableFromInline package enum CallStage: Sendable, Hashable {
  case decode
  /// The interceptor at this place of the chain has a part on its way to the handler.
  case receive(Int)
  /// It has a part on its way to the transport.
  case send(Int)
  case handler
  case encode
}

/// Learns when the stages of one served call begin and end, on any thread; see `MethodHandler.watched`.
///
/// A stage may begin several times, such as for each message, and again before it has ended.
@usableFromInline package protocol StageWatch: AnyObject, Sendable {
  func began(_ stage: CallStage)
  /// Also called for stages that have not begun.
  func ended(_ stage: CallStage)
  /// This interceptor is at a place of the chain. Called before its stages begin.
  func found(_ interceptor: AnyObject, at index: Int)
  /// The answer has left the chain: interceptors that have kept something will not pass it on.
  func answered()
}
