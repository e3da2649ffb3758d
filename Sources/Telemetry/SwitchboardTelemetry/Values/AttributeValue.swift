/// The value of an attribute of a span, an event, a metric, a log record or a resource.
///
/// ```swift
/// span.set("cart.items", 3)
/// span.set("cart.currency", "EUR")
/// ```
public enum AttributeValue: Sendable, Hashable {
  /// Text.
  case string(String)
  /// A Boolean.
  case bool(Bool)
  /// An integer.
  case int(Int)
  /// A floating-point number.
  case double(Double)
  /// Several texts.
  case strings([String])
}

extension AttributeValue: ExpressibleByStringLiteral, ExpressibleByStringInterpolation {
  public init(stringLiteral value: String) { self = .string(value) }
}

extension AttributeValue: ExpressibleByIntegerLiteral {
  public init(integerLiteral value: Int) { self = .int(value) }
}

extension AttributeValue: ExpressibleByBooleanLiteral {
  public init(booleanLiteral value: Bool) { self = .bool(value) }
}

extension AttributeValue: ExpressibleByFloatLiteral {
  public init(floatLiteral value: Double) { self = .double(value) }
}

extension AttributeValue: CustomStringConvertible {
  /// The value as text. Several texts are separated by commas.
  public var description: String {
    switch self {
    case .string(let text): text
    case .bool(let value): "\(value)"
    case .int(let value): "\(value)"
    case .double(let value): "\(value)"
    case .strings(let texts): texts.joined(separator: ",")
    }
  }
}

/// An attribute: a name and a value.
struct Attribute: Sendable, Hashable {
  let key: String
  let value: AttributeValue

  init(_ key: String, _ value: AttributeValue) {
    self.key = key
    self.value = value
  }

  /// The approximate number of bytes that it takes in memory.
  var cost: Int { 64 + key.utf8.count + value.cost }
}

extension AttributeValue {
  fileprivate var cost: Int {
    switch self {
    case .string(let text): text.utf8.count
    case .strings(let texts): texts.reduce(0) { $0 + 16 + $1.utf8.count }
    case .bool, .int, .double: 0
    }
  }

  /// The value with texts cut after this many bytes.
  func limited(to byteCount: Int) -> AttributeValue {
    switch self {
    case .string(let text): .string(text.limited(to: byteCount))
    case .strings(let texts): .strings(texts.prefix(64).map { $0.limited(to: byteCount) })
    case .bool, .int, .double: self
    }
  }

  /// The value as a label of metrics. Several texts with their commas are as long as one at most.
  var asLabel: AttributeValue {
    guard case .strings(let texts) = self else { return limited(to: String.labelLimit) }
    var left = String.labelLimit
    var cut: [String] = []
    for text in texts where left > 0 {
      cut.append(text.limited(to: left))
      left -= text.utf8.count + 1
    }
    return .strings(cut)
  }

  /// Whether it is known to be a label as it is.
  var isLabel: Bool {
    switch self {
    case .string(let text): text.isLabel
    case .strings: false
    case .bool, .int, .double: true
    }
  }
}

extension String {
  /// The text as a label of metrics, whose length is limited.
  var asLabel: String { limited(to: Self.labelLimit) }
  var isLabel: Bool { utf8.count <= Self.labelLimit }
  fileprivate static var labelLimit: Int { 256 }

  /// The text, cut between two characters so that it has at most this many bytes.
  func limited(to byteCount: Int) -> String {
    guard utf8.count > byteCount else { return self }
    var end = utf8.index(utf8.startIndex, offsetBy: max(0, byteCount))
    while end > utf8.startIndex, end.samePosition(in: unicodeScalars) == nil { end = utf8.index(before: end) }
    return String(self[..<end])
  }
}

extension [String: AttributeValue] {
  /// The attributes in the order of their names, so that equal sets are equal lists.
  var sortedAttributes: [Attribute] {
    map { Attribute($0.key, $0.value) }.sorted { $0.key < $1.key }
  }
}

extension Array {
  /// The elements in the order of their attributes, so that the order in pages and exports does not change by chance.
  func sorted(by attributes: (Element) -> [Attribute]) -> [Element] {
    // Makes each text once, not for each comparison.
    map { element in
      (element, attributes(element).map { "\($0.key)\u{0}\($0.value)" }.joined(separator: "\u{0}"))
    }
    .sorted { $0.1 < $1.1 }.map(\.0)
  }
}
