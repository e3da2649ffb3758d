import SwitchboardCall
import SwitchboardText

/// What a request wants of a view: a part of its lines, and one of them whole.
///
/// The same query in the same order is the same request, whose answer viewers share.
struct ViewQuery: Sendable, Hashable {
  /// How the methods are sorted.
  enum Order: String, Sendable, CaseIterable {
    case rate, errors, p99, name
    case inFlight = "in_flight"
  }

  /// Whose calls are shown.
  enum Side: String, Sendable, CaseIterable {
    case server, client
  }

  /// Which calls are shown.
  enum CallKind: String, Sendable, CaseIterable {
    case slowest, failed, timed
    case underWay = "under_way"
  }

  private(set) var side = Side.server
  private(set) var callKind = CallKind.slowest
  /// The durations of the calls that are shown; `nil` for all.
  private(set) var bucket: LatencyBucket?
  private(set) var order = Order.rate
  /// What names must contain, in lower case.
  private(set) var filter: [UInt8] = []
  private(set) var from = 0
  private(set) var count = 50
  /// What is shown whole: a method, or a line of a tree.
  private(set) var selected: [UInt8] = []
  /// The target of the selected method.
  private(set) var target: [UInt8] = []
  /// The lines of a tree whose parts are not shown.
  private(set) var closed: Set<[UInt8]> = []

  private static let mostBytes = 4096
  private static let mostLines = 200
  private static let mostClosed = 100

  /// A query that cannot be answered, and why.
  struct Mistake: Error {
    let text: String
  }

  /// Throws if it has a parameter that no view knows, or a value that cannot be meant.
  init(_ text: String?) throws(Mistake) {
    guard let text, !text.isEmpty else { return }
    guard text.utf8.count <= Self.mostBytes else { throw Mistake(text: "the query is too long") }
    for pair in text.utf8.split(separator: UInt8(ascii: "&")) {
      let parts = pair.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
      let value = parts.count > 1 ? PercentEncoding.decode(Array(parts[1]), .form) : []
      try take(PercentEncoding.decode(Array(parts[0]), .form), value)
    }
  }

  private mutating func take(_ name: [UInt8], _ value: [UInt8]) throws(Mistake) {
    switch name {
    case Array("side".utf8): side = try Self.choice(value, "side")
    case Array("sort".utf8): order = try Self.choice(value, "sort")
    case Array("kind".utf8): callKind = try Self.choice(value, "kind")
    case Array("bucket".utf8): bucket = try Self.choice(value, "bucket")
    case Array("filter".utf8): filter = value.map(\.lowercased)
    case Array("from".utf8): from = try Self.number(value, "from", 0...Int(Int32.max))
    case Array("count".utf8): count = try Self.number(value, "count", 0...Self.mostLines)
    case Array("selected".utf8): selected = value
    case Array("target".utf8): target = value
    case Array("closed".utf8):
      guard closed.count < Self.mostClosed else {
        throw Mistake(text: "closed: at most \(Self.mostClosed) times")
      }
      closed.insert(value)
    default:
      throw Mistake(
        text:
          "no view knows '\(name.excerpt())': use side, sort, kind, bucket, filter, from, count, selected, target and closed"
      )
    }
  }

  private static func choice<Choice: RawRepresentable & CaseIterable>(_ value: [UInt8], _ name: String)
    throws(Mistake) -> Choice where Choice.RawValue == String
  {
    if let found = Choice.allCases.first(where: { $0.rawValue.utf8.elementsEqual(value) }) { return found }
    throw Mistake(text: "\(name) is one of: \(Choice.allCases.map(\.rawValue).joined(separator: ", "))")
  }

  private static func number(_ value: [UInt8], _ name: String, _ range: ClosedRange<Int>) throws(Mistake)
    -> Int
  {
    guard value.count < 12, let number = Int(String(decoding: value, as: UTF8.self)), range.contains(number)
    else {
      throw Mistake(text: "\(name) is a number from \(range.lowerBound) to \(range.upperBound)")
    }
    return number
  }

  /// Whether a name contains what the filter asks for.
  func includes(_ name: String) -> Bool {
    name.utf8.count >= filter.count && name.utf8.lazy.map(\.lowercased).contains(part: filter)
  }

  /// The part of some lines that is asked for.
  func part<Line>(of lines: [Line]) -> ArraySlice<Line> { lines.dropFirst(from).prefix(count) }
}
