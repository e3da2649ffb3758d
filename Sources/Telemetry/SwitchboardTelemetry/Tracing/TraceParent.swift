import SwitchboardCall
import SwitchboardText

/// W3C's `traceparent`: `00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01`.
enum TraceParent {
  static let length = 55

  /// `nil` for anything that the specification does not allow. Later versions may have more behind a dash.
  static func read<Text: RandomAccessCollection<UInt8>>(
    _ text: Text
  ) -> (TraceID, SpanID, isSampled: Bool)? where Text.Index == Int {
    guard text.count >= length, let version = Hex.lowerNumber(text[0..<2]), version != 0xff else {
      return nil
    }
    guard text.count == length || version > 0 && text[length] == dash else { return nil }
    guard text[2] == dash, text[35] == dash, text[52] == dash,
      let high = Hex.lowerNumber(text[3..<19]), let low = Hex.lowerNumber(text[19..<35]),
      let span = Hex.lowerNumber(text[36..<52]), let flags = Hex.lowerNumber(text[53..<55])
    else { return nil }
    let (traceID, spanID) = (TraceID(high: high, low: low), SpanID(span))
    guard traceID.isValid, spanID.isValid else { return nil }
    return (traceID, spanID, flags & 1 == 1)
  }

  private static var dash: UInt8 { UInt8(ascii: "-") }
}

/// `grpc-trace-bin`: a version, and fields with their numbers in front.
enum TraceBin {
  static func read(_ bytes: [UInt8]) -> (TraceID, SpanID, isSampled: Bool)? {
    guard bytes.count >= 27, bytes[0] == 0, bytes[1] == 0, bytes[18] == 1 else { return nil }
    let traceID = TraceID(high: number(bytes[2..<10]), low: number(bytes[10..<18]))
    let spanID = SpanID(number(bytes[19..<27]))
    guard traceID.isValid, spanID.isValid else { return nil }
    // Without options, the trace is not recorded; what follows them is for later versions.
    let isSampled = bytes.count >= 29 && bytes[27] == 2 && bytes[28] & 1 == 1
    return (traceID, spanID, isSampled)
  }

  static func bytes(_ context: SpanContext) -> [UInt8] {
    [0, 0] + context.traceID.bytes + [1] + context.spanID.bytes + [2, context.isSampled ? 1 : 0]
  }

  private static func number(_ bytes: ArraySlice<UInt8>) -> UInt64 {
    bytes.reduce(0) { $0 << 8 | UInt64($1) }
  }
}

/// W3C's `tracestate`: `vendor=value,other=value`, up to 32 of them.
enum TraceState {
  /// The most bytes that are passed on: what the specification asks for at least.
  static let limit = 512
  private static let mostMembers = 32

  /// The members of all fields of the header in order; empty if any of them is invalid. What is above the limit is left
  /// out, from the end.
  static func read(_ fields: [String]) -> String {
    var kept = ""
    var keys: Set<ExactText> = []
    for field in fields {
      guard field.utf8.count <= 8192 else { return "" }
      for part in field.parts(separatedBy: ",", omittingEmpty: true) {
        let member = part.trimmed
        if member.isEmpty { continue }
        guard let equals = member.utf8.firstIndex(of: UInt8(ascii: "=")), isKey(member[..<equals]),
          isValue(member[member.utf8.index(after: equals)...]), keys.insert(String(member[..<equals]))
        else { return "" }
        guard keys.count <= mostMembers, kept.utf8.count + member.utf8.count + 1 <= limit else { return kept }
        kept += kept.isEmpty ? "\(member)" : ",\(member)"
      }
    }
    return kept
  }

  private static func isKey(_ key: Substring) -> Bool {
    guard let first = key.utf8.first, key.utf8.count <= 256, isLetter(first) || isDigit(first) else {
      return false
    }
    return key.utf8.allSatisfy { isLetter($0) || isDigit($0) || "_-*/@".utf8.contains($0) }
  }

  private static func isValue(_ value: Substring) -> Bool {
    guard !value.isEmpty, value.utf8.count <= 256 else { return false }
    return value.utf8.allSatisfy {
      (0x20...0x7e).contains($0) && $0 != UInt8(ascii: "=") && $0 != UInt8(ascii: ",")
    }
  }

  private static func isLetter(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
  }
  private static func isDigit(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
  }
}

extension StringProtocol where SubSequence == Substring {
  /// Without spaces and tabs around it.
  var trimmed: Substring {
    let isText: (UInt8) -> Bool = { $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: "\t") }
    let bytes = self[...].utf8
    guard let first = bytes.firstIndex(where: isText), let last = bytes.lastIndex(where: isText) else {
      return ""
    }
    return Substring(bytes[first...last])
  }
}
