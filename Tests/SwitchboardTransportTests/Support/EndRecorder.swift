import SwitchboardCall

/// The first end of a call, or nil after a timeout.
final class EndRecorder: ResponseReceiver {
  private struct State {
    var end: GRPCStatus?
    var isOver = false
  }

  private let state = Locked(State())

  var wantsMetadata: Bool { false }
  var wantsSent: Bool { false }
  func sent(_ part: SentPart) {}
  func responseWasCompressed() {}
  var end: GRPCStatus? { state.withLock(\.end) }

  func stop() { state.withLock { $0.isOver = true } }

  func receive(headers: HPACKHeaders) {}
  func decoder(for message: RawSpan) -> ResponseDecoder? { nil }
  func receive(message: RawSpan) {}

  func close(_ status: GRPCStatus, trailers: HPACKHeaders) {
    state.withLock { state in
      if !state.isOver, state.end == nil { state.end = status }
    }
  }
}
