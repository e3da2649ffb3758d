import SwitchboardCall

/// W3C's `traceparent`: `00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01`.
enum TraceParent {
  static let length = 55

  /// `nil` for anything that the specification does not allow. Later versions may have more behind a dash.
  static func read<Text: RandomAccessCollection<UInt8>>(
    _ text: Text
  ) -> (TraceID, SpanID, isSampled: Bool)? where Text.Index == Int {
    guard text.count >= length, let version = Hex.number(text[0..<2]), version != 0xff else { return nil }
    guard text.count == length || version > 0 && text[length] == dash else { return nil }
    guard text[2] == dash, text[35] == dash, text[52] == dash,
      let high = number(in: text, at: 3), let low = number(in: text, at: 19),
      let span = number(in: text, at: 36), let flags = Hex.number(text[53..<55])
    else { return nil }
    let (traceID, spanID) = (TraceID(high: high, low: low), SpanID(span))
    guard traceID.isValid, spanID.isValid else { return nil }
    return (traceID, spanID, flags & 1 == 1)
  }

  /// The same for a value of the usual length, mostly of the current version.
  static func read(_ text: TraceParentText) -> (TraceID, SpanID, isSampled: Bool)? {
    let identity = identity(text)
    return identity.isValid ? (identity.traceID, identity.spanID, identity.isSampled) : nil
  }

  /// The same as an identity; `nil` if the value is not allowed.
  @inline(__always)
  static func identity(_ text: TraceParentText) -> SpanIdentity {
    let words = text.words
    let (first, second) = (words[0] << 24 | words[1] >> 40, words[1] << 24 | words[2] >> 40)
    let (third, fourth) = (words[2] << 24 | words[3] >> 40, words[3] << 24 | words[4] >> 40)
    let (fifth, sixth) = (words[4] << 32 | words[5] >> 32, words[5] << 32 | words[6] >> 32)
    // `00-`, the dash behind each identity, and `00` or `01`.
    let others =
      (words[0] >> 40 ^ 0x30302d) | (words[4] >> 32 & 0xff ^ 0x2d) | (words[6] >> 8 & 0xff_fffe ^ 0x2d_3030)
    let faults = Hex.faults(first) | Hex.faults(second) | Hex.faults(third) | Hex.faults(fourth)
    let high = Hex.value(first, second)
    let low = Hex.value(third, fourth)
    let span = Hex.value(fifth, sixth)
    guard others | faults | Hex.faults(fifth) | Hex.faults(sixth) == 0, high | low != 0, span != 0 else {
      return rareIdentity(text)
    }
    return SpanIdentity(
      traceHigh: high,
      traceLow: low,
      span: span,
      isSampled: words[6] >> 8 & 1 == 1,
      isRemote: true
    )
  }

  /// Of another version, with other flags, or not allowed.
  @inline(never)
  private static func rareIdentity(_ text: TraceParentText) -> SpanIdentity {
    guard let read = read(text.bytes) else { return .none }
    return SpanIdentity(
      traceHigh: read.0.high,
      traceLow: read.0.low,
      span: read.1.value,
      isSampled: read.isSampled,
      isRemote: true
    )
  }

  /// The number that sixteen digits write.
  @inline(__always)
  private static func number<Text: RandomAccessCollection<UInt8>>(in text: Text, at start: Int) -> UInt64?
  where Text.Index == Int {
    var (high, low) = (UInt64(0), UInt64(0))
    for index in 0..<8 {
      high = high << 8 | UInt64(text[start + index])
      low = low << 8 | UInt64(text[start + 8 + index])
    }
    return Hex.number(digits: high, low)
  }

  /// The header of a span.
  static func text(_ context: SpanContext) -> TraceParentText {
    text(context.traceID, context.spanID, isSampled: context.isSampled)
  }

  static func text(_ traceID: TraceID, _ spanID: SpanID, isSampled: Bool) -> TraceParentText {
    let (high, low, span) = (digits(traceID.high), digits(traceID.low), digits(spanID.value))
    return TraceParentText([
      0x3030_2d00_0000_0000 | high.0 >> 24,
      high.0 << 40 | high.1 >> 24,
      high.1 << 40 | low.0 >> 24,
      low.0 << 40 | low.1 >> 24,
      low.1 << 40 | 0x2d << 32 | span.0 >> 32,
      span.0 << 32 | span.1 >> 32,
      span.1 << 32 | 0x2d30_3000 | (isSampled ? 0x100 : 0),
    ])
  }

  @inline(__always)
  private static func digits(_ value: UInt64) -> (UInt64, UInt64) {
    (Hex.digits(UInt32(truncatingIfNeeded: value >> 32)), Hex.digits(UInt32(truncatingIfNeeded: value)))
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
    var keys: Set<Substring> = []
    for field in fields {
      guard field.utf8.count <= 8192 else { return "" }
      for part in field.split(separator: ",", omittingEmptySubsequences: true) {
        let member = part.trimmed
        if member.isEmpty { continue }
        guard let equals = member.firstIndex(of: "="), isKey(member[..<equals]),
          isValue(member[member.index(after: equals)...]), keys.insert(member[..<equals]).inserted
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

extension StringProtocol {
  /// Without spaces and tabs around it.
  var trimmed: SubSequence {
    let isSpace: (Character) -> Bool = { $0 == " " || $0 == "\t" }
    guard let first = firstIndex(where: { !isSpace($0) }), let last = lastIndex(where: { !isSpace($0) })
    else {
      return self[startIndex..<startIndex]
    }
    return self[first...last]
  }
}
