import SwitchboardCall
import SwitchboardTelemetry
import SwitchboardText

/// A call that the console keeps, in memory that is bounded whatever the call was.
final class KeptCall: Sendable {
  /// A field of the request's metadata.
  struct Field: Sendable {
    let name: String
    /// `nil` if it is not shown.
    let value: String?
    let length: Int
  }

  let call: EndedCall
  let id: String
  /// When it ended, on the console's clock.
  let end: ContinuousClock.Instant
  let message: String
  let fields: [Field]
  let fieldsLeftOut: Int
  let lanes: [CallTimeline.Lane]
  /// About how many bytes it takes.
  let cost: Int

  static let longestName = 64
  private static let longestValue = 100
  private static let mostFields = 24
  private static let longestMessage = 400
  static let longestAddress = 100

  init(_ call: EndedCall, at end: ContinuousClock.Instant, _ shown: ShownMetadata) {
    self.end = end
    id = Self.id(isServer: call.called.isServer, start: call.start)
    message = (call.status.message ?? "").excerpt(Self.longestMessage)
    (fields, fieldsLeftOut) = Self.fields(call.headers, shown)
    lanes = call.timeline?.lanes ?? []
    self.call = call.trimmed(Self.longestAddress)
    var cost = 400 + message.utf8.count + self.call.peer.utf8.count
    for field in fields { cost += 48 + field.name.utf8.count + (field.value?.utf8.count ?? 0) }
    for lane in lanes { cost += 64 + lane.name.utf8.count + 16 * lane.spans.count }
    for attempt in self.call.attempts { cost += 80 + attempt.server.utf8.count }
    self.cost = cost
  }

  /// Names a call by its side and its start.
  static func id(isServer: Bool, start: UInt64) -> String { "\(isServer ? "server" : "client")-\(start)" }

  /// The fields of metadata, the first of many, and how many there are besides.
  static func fields(_ headers: HPACKHeaders?, _ shown: ShownMetadata) -> (fields: [Field], leftOut: Int) {
    guard let headers else { return ([], 0) }
    var fields: [Field] = []
    var count = 0
    headers.forEachField { name, value in
      count += 1
      guard fields.count < mostFields else { return }
      let isShown = shown.includes(name)
      fields.append(
        Field(
          name: name.excerpt(longestName),
          value: isShown ? value.excerpt(longestValue) : nil,
          length: value.count
        )
      )
    }
    return (fields, count - fields.count)
  }
}
