import ConsoleMessages
import SwitchboardCall
import SwitchboardProtobuf
import SwitchboardTelemetry
import SwitchboardText

// How calls are written for the page.

extension SpanIdentity {
  /// The identities of trace and span in hexadecimal digits. `nil` if there are none.
  var shown: (trace: String, span: String)? {
    Telemetry.texts(of: self)
  }
}

extension Google_Protobuf_Timestamp {
  /// A moment in nanoseconds since 1970.
  init(nanoseconds: UInt64) {
    self.init()
    seconds = Int64(clamping: nanoseconds / 1_000_000_000)
    nanos = Int32(nanoseconds % 1_000_000_000)
  }
}

extension Switchboard_Console_V1_Call {
  init(_ kept: KeptCall) {
    let call = kept.call
    self.init()
    id = kept.id
    method = call.called.name
    target = call.called.target
    start = .init(nanoseconds: call.date)
    seconds = Double(call.duration) / 1e9
    status = call.status.code.specName
    peer = call.called.isServer ? call.peer : call.attempts.last?.server ?? ""
    traceID = call.identity.shown?.trace ?? ""
    attempts = UInt32(clamping: call.attempts.count)
    hasTimeline_p = call.isTimed
  }
}

extension Switchboard_Console_V1_Transfer {
  init(_ totals: MessageTotals) {
    self.init()
    messages = UInt64(clamping: totals.messages)
    bytes = UInt64(clamping: totals.bytes)
  }
}

extension Switchboard_Console_V1_Field {
  /// A field, whose value is shown if the console's options name it.
  init(_ field: KeptCall.Field, _ shown: ShownMetadata) {
    self.init()
    name = field.name
    length = UInt32(clamping: field.length)
    guard let text = field.value, shown.includes(field.name.utf8) else { return }
    (value, isShown) = (text, true)
  }
}

extension Switchboard_Console_V1_Stage {
  init(_ lane: CallTimeline.Lane) {
    self.init()
    name = lane.name
    count = UInt32(clamping: lane.count)
    seconds = Double(lane.total) / 1e9
    isOpen = lane.isOpen
    spans = lane.spans.map { .init(nanoseconds: $0) }
  }

  init(_ name: String, nanoseconds: Range<Int>) {
    self.init()
    self.name = name
    count = 1
    seconds = Double(nanoseconds.count) / 1e9
    spans = [.init(nanoseconds: nanoseconds)]
  }
}

extension Switchboard_Console_V1_Span {
  init(nanoseconds: Range<Int>) {
    self.init()
    start = Double(nanoseconds.lowerBound) / 1e9
    seconds = Double(nanoseconds.count) / 1e9
  }
}

extension Switchboard_Console_V1_Attempt {
  init(_ attempt: EndedCall.Attempt) {
    self.init()
    start = Double(attempt.start) / 1e9
    seconds = Double(attempt.duration) / 1e9
    picked = attempt.picked.map { Double($0) / 1e9 } ?? -1
    server = attempt.server
    status = attempt.code.specName
    wasSentAgain = attempt.wasSentAgain
  }
}
