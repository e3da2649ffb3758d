// unsafe: bytes that a stream or a session lends for one call

import SwitchboardCall
import SwitchboardText

/// Decodes Base64 incrementally. Padding may occur in the middle, where two encoded pieces were concatenated.
struct Base64Decoder {
  private var pending: UInt32 = 0
  private var digits = 0
  private var awaitsPadding = false

  /// Whether the text is incomplete.
  var isInsideGroup: Bool { digits == 1 || awaitsPadding }

  /// `nil` if the text is not Base64.
  mutating func decode(_ text: UnsafeRawBufferPointer) -> [UInt8]? {
    var decoded: [UInt8] = []
    decoded.reserveCapacity(text.count / 4 * 3 + 3)
    for character in text {
      if character == UInt8(ascii: "=") {
        guard takePadding() else { return nil }
      } else {
        guard !awaitsPadding, let value = Base64.value(character) else { return nil }
        pending = pending << 6 | value
        digits += 1
        if digits >= 2 { decoded.append(UInt8(truncatingIfNeeded: pending >> UInt32(8 - 2 * digits))) }
        if digits == 4 { digits = 0 }
      }
    }
    return decoded
  }

  private mutating func takePadding() -> Bool {
    if awaitsPadding {
      awaitsPadding = false
      return true
    }
    guard digits >= 2 else { return false }
    awaitsPadding = digits == 2
    digits = 0
    return true
  }
}

extension GRPCStatus {
  static let brokenText = GRPCStatus(
    code: .internalError,
    message: "the request is not valid Base64",
    origin: .peer
  )
}
