import SwitchboardTelemetry

/// The calls of one side, method by method, in the last 15 minutes.
struct CallHistory: Sendable {
  /// What names a method: on a client, with the target.
  struct Key: Hashable, Sendable {
    let method: String
    let target: String
  }

  /// The calls of all methods together.
  private(set) var total: MethodHistory?
  private(set) var methods: [Key: MethodHistory] = [:]
  private let limit: Int

  /// How far apart the periods are, in seconds.
  static let step = 5.0
  /// Where the calls of further methods count.
  static let other = Key(method: "other", target: "")

  /// Keeps at most so many methods.
  init(limit: Int) { self.limit = limit }

  /// Remembers what had been counted before the first period.
  mutating func begin(_ totals: [MethodTotals]) {
    var sum = MethodTotals.none
    var rest = MethodTotals.none
    for method in totals {
      sum.add(method)
      let key = Key(method: method.method, target: method.target)
      if key != Self.other, methods.count < limit {
        methods[key] = MethodHistory(method)
      } else {
        rest.add(method)
      }
    }
    total = MethodHistory(sum)
    if rest.started > 0 { methods[Self.other] = MethodHistory(rest) }
  }

  /// Adds a period of so many seconds, at whose end these are the totals of the methods.
  mutating func add(_ totals: [MethodTotals], seconds: Double) {
    var sum = MethodTotals.none
    var rest = MethodTotals.none
    forget(allBut: totals)
    for method in totals {
      sum.add(method)
      let key = Key(method: method.method, target: method.target)
      if !advance(key, method, seconds) { rest.add(method) }
    }
    advance(&total, sum, seconds)
    if rest.started > 0 { advance(&methods[Self.other], rest, seconds) }
  }

  /// Makes room for methods that are new: those that are not counted any more are forgotten. Another process, whose names these
  /// may be, can have others each time.
  private mutating func forget(allBut totals: [MethodTotals]) {
    guard methods.count >= limit else { return }
    let named = Set(totals.map { Key(method: $0.method, target: $0.target) })
    guard !named.isSubset(of: methods.keys) else { return }
    methods = methods.filter { named.contains($0.key) || $0.key == Self.other }
  }

  /// Returns `false` for a method for which there is no room.
  private mutating func advance(_ key: Key, _ totals: MethodTotals, _ seconds: Double) -> Bool {
    guard key != Self.other else { return false }
    if methods[key] == nil, methods.count >= limit { return false }
    advance(&methods[key], totals, seconds)
    return true
  }

  /// A method that is new has had no calls before.
  private func advance(_ history: inout MethodHistory?, _ totals: MethodTotals, _ seconds: Double) {
    if history == nil { history = MethodHistory(.none) }
    history?.add(totals, seconds: seconds)
  }
}
