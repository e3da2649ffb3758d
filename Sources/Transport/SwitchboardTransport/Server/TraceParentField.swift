// unsafe: header bytes that the session lends for one callback

import SwitchboardCall

/// The header `traceparent` of a request, if it is kept apart: most calls that have it differ in nothing else, and none has
/// it twice.
///
/// ```
///   none ──a valid one──> one, kept apart ──another, or a dialect──┐
///     └──an invalid one────────────────────────────────────────────┴──> others: all are among the fields, in their order
/// ```
struct TraceParentField {
  typealias Bytes = UnsafeBufferPointer<UInt8>

  private(set) var identity: SpanIdentity?
  /// Whether it is kept apart.
  let isWanted: Bool
  private(set) var hasOthers = false
  /// Whether the session has taken the one that is kept apart out of the block.
  private var isLate = false

  init(isWanted: Bool) { self.isWanted = isWanted }

  /// An invalid or repeated value stays among the fields, where it can be reported as such.
  mutating func add(_ value: Bytes, _ name: Bytes, _ fields: FieldCollector) {
    if identity == nil, !hasOthers, let valid = SpanIdentity(text: value) {
      identity = valid
    } else {
      hasOthers = true
      if let first = identity, !isLate {
        first.text.withUnsafeBufferPointer { fields.append(name: name, value: $0) }
        identity = nil
      }
      fields.append(name: name, value: value)
    }
  }

  /// Adds the first field, which the session has taken out of the block.
  mutating func addLate(_ identity: SpanIdentity) {
    self.identity = identity
    isLate = true
  }

  /// Whether heads that are equal but for this header, which the session takes out of each block, say the same.
  var isRepeatable: Bool { !hasOthers && (identity == nil || isLate) }

  /// Removes the field, which is to be among the others after all.
  mutating func rejoin() -> SpanIdentity? {
    if identity != nil { hasOthers = true }
    return identity.take()
  }
}
