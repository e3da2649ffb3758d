public import SwitchboardCall
import SwitchboardText

extension ConfigValue {
  /// Reads JSON (RFC 8259). Throws `INVALID_ARGUMENT` for anything else, for a value nested deeper than 100, and for a
  /// name that an object has twice. Names and texts have at most 64 combining marks in a row.
  public init(json: String) throws(GRPCStatus) { try self.init(json: json, boundsText: true) }

  /// The same. If not `boundsText`, texts that are not names may have any number of marks.
  package init(json: String, boundsText: Bool) throws(GRPCStatus) {
    do throws(ConfigFinding) {
      self = try Self.parse(json, boundsText: boundsText)
    } catch { throw .invalidServiceConfig(error) }
  }

  static func parse(_ json: String, boundsText: Bool) throws(ConfigFinding) -> ConfigValue {
    var reader = JSONReader(bytes: Array(json.utf8), boundsText: boundsText)
    return try reader.document()
  }

  /// The same, with the places of all members and elements, or only of those that contain what is at a path.
  static func parseWithPlaces(
    _ json: String,
    around path: String? = nil
  ) throws(ConfigFinding) -> (value: ConfigValue, places: ConfigPlaces) {
    var reader = JSONReader(bytes: Array(json.utf8), boundsText: true, findsPlaces: true, around: path)
    return (try reader.document(), ConfigPlaces(offsets: reader.places, text: reader.bytes))
  }
}

/// A JSON reader. The message runtime has one too, but this module does not import it.
private struct JSONReader {
  private static let depthLimit = 100

  let bytes: [UInt8]
  let boundsText: Bool
  /// Off within values that do not contain what is looked for: their paths would cost more than the values.
  private var findsPlaces: Bool
  /// What is looked for; `nil` means all.
  private let wanted: String?
  private(set) var places: [String: Int] = [:]
  /// Of the value that is being read.
  private var path = ""
  private var position = 0
  private var depth = 0

  init(bytes: [UInt8], boundsText: Bool, findsPlaces: Bool = false, around wanted: String? = nil) {
    self.bytes = bytes
    self.boundsText = boundsText
    self.findsPlaces = findsPlaces
    self.wanted = wanted
  }

  mutating func document() throws(ConfigFinding) -> ConfigValue {
    let value = try value()
    guard peek() == nil else { throw unexpected("there is data after the end") }
    return value
  }

  private func failure(_ reason: String, at place: Int? = nil) -> ConfigFinding {
    ConfigFinding(
      path: "",
      reason: "invalid JSON: \(reason)",
      position: TextPosition(of: place ?? position, in: bytes)
    )
  }

  /// The failure of something between values, which may be a comment as other languages have it.
  private func unexpected(_ reason: String) -> ConfigFinding {
    let rest = bytes[min(position, bytes.count)...]
    let isComment = ["//", "/*", "#"].contains { rest.starts(with: $0.utf8) }
    return failure(isComment ? "a comment, which JSON does not allow" : reason)
  }

  /// The next byte that is not white space.
  private mutating func peek() -> UInt8? {
    while position < bytes.count {
      switch bytes[position] {
      case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\n"), UInt8(ascii: "\r"): position += 1
      default: return bytes[position]
      }
    }
    return nil
  }

  private mutating func take(_ character: Unicode.Scalar) -> Bool {
    guard peek() == UInt8(ascii: character) else { return false }
    position += 1
    return true
  }

  private mutating func value() throws(ConfigFinding) -> ConfigValue {
    guard let first = peek() else { throw failure("a value is missing") }
    switch first {
    case UInt8(ascii: "{"):
      return .object(try nested { reader throws(ConfigFinding) in try reader.object() })
    case UInt8(ascii: "["):
      return .array(try nested { reader throws(ConfigFinding) in try reader.array() })
    case UInt8(ascii: "\""): return .string(boundsText ? try name() : try string())
    case UInt8(ascii: "t"): return try word("true", .bool(true))
    case UInt8(ascii: "f"): return try word("false", .bool(false))
    case UInt8(ascii: "n"): return try word("null", .null)
    default: return .number(try number())
    }
  }

  private enum Step {
    case member(String)
    case element(Int)
  }

  /// Reads the value of a member or an element, which begins at an offset.
  private mutating func value(of step: Step, from start: Int) throws(ConfigFinding) -> ConfigValue {
    guard findsPlaces else { return try value() }
    let outer = path
    defer { path = outer }
    switch step {
    case .member(let name): path = ConfigPath.member(name, of: outer)
    case .element(let index): path = "\(outer)[\(index)]"
    }
    findsPlaces = wanted.map { ConfigPath.contains(path, $0) } ?? true
    defer { findsPlaces = true }
    if findsPlaces { places[path] = start }
    return try value()
  }

  private mutating func nested<Value>(
    _ read: (inout JSONReader) throws(ConfigFinding) -> Value
  ) throws(ConfigFinding) -> Value {
    guard depth < Self.depthLimit else { throw failure("values are nested too deeply") }
    depth += 1
    position += 1
    defer { depth -= 1 }
    return try read(&self)
  }

  private mutating func object() throws(ConfigFinding) -> [String: ConfigValue] {
    var members: [String: ConfigValue] = [:]
    if take("}") { return members }
    while true {
      guard peek() == UInt8(ascii: "\"") else { throw unexpected("a member's name is missing") }
      let start = position
      let name = try name()
      guard take(":") else { throw unexpected("a colon is missing") }
      let value = try value(of: .member(name), from: start)
      guard members.updateValue(value, forKey: name) == nil else {
        throw failure("the member \(name.excerpt) occurs twice")
      }
      if take("}") { return members }
      guard take(",") else { throw unexpected("a comma or a closing brace is missing") }
      try refuseTrailingComma(before: "}")
    }
  }

  /// Other readers, and people, allow a comma after the last member or element.
  private mutating func refuseTrailingComma(before closer: Unicode.Scalar) throws(ConfigFinding) {
    let comma = position - 1
    guard peek() == UInt8(ascii: closer) else { return }
    throw failure("a trailing comma, which JSON does not allow", at: comma)
  }

  private mutating func array() throws(ConfigFinding) -> [ConfigValue] {
    var values: [ConfigValue] = []
    if take("]") { return values }
    while true {
      _ = peek()
      values.append(try value(of: .element(values.count), from: position))
      if take("]") { return values }
      guard take(",") else { throw unexpected("a comma or a closing bracket is missing") }
      try refuseTrailingComma(before: "]")
    }
  }

  private mutating func word(_ word: String, _ value: ConfigValue) throws(ConfigFinding) -> ConfigValue {
    guard bytes[position...].starts(with: word.utf8) else { throw failure("this is not a value") }
    position += word.utf8.count
    return value
  }

  private mutating func digits() -> Int {
    let start = position
    while position < bytes.count, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(bytes[position]) {
      position += 1
    }
    return position - start
  }

  private mutating func skip(_ characters: Unicode.Scalar...) -> Bool {
    guard position < bytes.count, characters.contains(where: { UInt8(ascii: $0) == bytes[position] }) else {
      return false
    }
    position += 1
    return true
  }

  private mutating func number() throws(ConfigFinding) -> Double {
    let start = position
    _ = skip("-")
    let leadsWithZero = position < bytes.count && bytes[position] == UInt8(ascii: "0")
    let whole = digits()
    guard whole > 0, !(leadsWithZero && whole > 1) else { throw unexpected("this is not a value") }
    if skip("."), digits() == 0 { throw failure("a number ends with a decimal point") }
    if skip("e", "E") {
      _ = skip("+", "-")
      if digits() == 0 { throw failure("a number has an empty exponent") }
    }
    guard let number = Double(String(decoding: bytes[start..<position], as: UTF8.self)), number.isFinite
    else {
      throw failure("a number is too large")
    }
    return number
  }

  /// A string that is a key of a dictionary, or compared with others: see `hasLongRunOfMarks`.
  private mutating func name() throws(ConfigFinding) -> String {
    let text = try string()
    guard !text.hasLongRunOfMarks else {
      throw failure("a string has more than \(String.longestRunOfMarks) combining marks in a row")
    }
    return text
  }

  private mutating func string() throws(ConfigFinding) -> String {
    position += 1
    var text: [UInt8] = []
    while position < bytes.count {
      let byte = bytes[position]
      position += 1
      switch byte {
      case UInt8(ascii: "\""): return String(decoding: text, as: UTF8.self)
      case UInt8(ascii: "\\"): text += String(try escaped()).utf8
      case 0..<0x20: throw failure("a string has a control character")
      default: text.append(byte)
      }
    }
    throw failure("a string does not end")
  }

  private mutating func escaped() throws(ConfigFinding) -> Unicode.Scalar {
    guard position < bytes.count else { throw failure("a string does not end") }
    let byte = bytes[position]
    position += 1
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return Unicode.Scalar(byte)
    case UInt8(ascii: "b"): return "\u{8}"
    case UInt8(ascii: "f"): return "\u{C}"
    case UInt8(ascii: "n"): return "\n"
    case UInt8(ascii: "r"): return "\r"
    case UInt8(ascii: "t"): return "\t"
    case UInt8(ascii: "u"): return try unicode()
    default: throw failure("this escape is unknown")
    }
  }

  private mutating func unicode() throws(ConfigFinding) -> Unicode.Scalar {
    let unit = try hex()
    if let scalar = Unicode.Scalar(unit) { return scalar }
    // The first half of a pair must be followed by the second.
    guard (0xD800..<0xDC00).contains(unit), skip("\\"), skip("u") else {
      throw failure("an unpaired surrogate")
    }
    let second = try hex()
    guard (0xDC00..<0xE000).contains(second),
      let scalar = Unicode.Scalar(0x10000 + (unit - 0xD800) << 10 + (second - 0xDC00))
    else { throw failure("an unpaired surrogate") }
    return scalar
  }

  private mutating func hex() throws(ConfigFinding) -> UInt32 {
    let end = position + 4
    guard end <= bytes.count, let unit = Hex.number(bytes[position..<end]) else {
      throw failure("an escape needs four hexadecimal digits")
    }
    position = end
    return UInt32(truncatingIfNeeded: unit)
  }
}
