import CCosts
import Testing

/// The memory that work allocates and copies on its thread. This shows without a clock that work grows faster than its
/// input: data that is rebuilt for each item is allocated or moved each time.
struct Cost {
  var allocated = 0
  var copied = 0

  /// Whether this build can count costs.
  static let isKnown = switchboard_counts_costs()

  /// The costs of `work` and of freeing its result.
  static func of<R>(_ work: () throws -> R) rethrows -> (cost: Cost, result: R) {
    let before = switchboard_thread_costs()
    let result = try work()
    let after = switchboard_thread_costs()
    return (Cost(from: before, to: after), result)
  }

  private init(from before: switchboard_costs, to after: switchboard_costs) {
    allocated = Int(after.allocated_bytes - before.allocated_bytes)
    copied = Int(after.copied_bytes - before.copied_bytes)
  }

  /// Which costs for twice the input exceed 2.2 times `half`. Nil if none does; a few bytes are constant.
  func excess(over half: Cost, factor: Double = 2.2, constant: Int = 2048) -> String? {
    func isTooMuch(_ twice: Int, _ once: Int) -> Bool { Double(twice) > factor * Double(once + constant) }
    guard isTooMuch(allocated, half.allocated) || isTooMuch(copied, half.copied) else { return nil }
    return "allocated \(half.allocated), then \(allocated); copied \(half.copied), then \(copied)"
  }
}

/// Measures work on inputs of one size and of twice that size.
struct CostCheck {
  /// The number of items in the smaller input.
  static let items = 128

  /// Runs `work` on inputs of this many items and of twice as many, and records an issue if that costs too much.
  static func check<Input>(
    _ what: @autoclosure () -> String,
    items: Int = items,
    factor: Double = 2.2,
    _ input: @escaping (Int) throws -> Input,
    _ work: (Input) throws -> Void,
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    let inputs = try Inputs(items: items, input)
    try check(what(), factor: factor, inputs, work, sourceLocation: sourceLocation)
  }

  /// An input, one twice as large, and one four times as large, which is created when needed.
  struct Inputs<Input> {
    let once: Input
    let twice: Input
    let fourTimes: () throws -> Input

    /// The inputs that `input` creates for this many items, and so on.
    init(items: Int = CostCheck.items, _ input: @escaping (Int) throws -> Input) throws {
      self.init(once: try input(items), twice: try input(2 * items)) { try input(4 * items) }
    }

    private init(once: Input, twice: Input, fourTimes: @escaping () throws -> Input) {
      (self.once, self.twice, self.fourTimes) = (once, twice, fourTimes)
    }

    /// The results for each input.
    func map<R>(_ transform: @escaping (Input) throws -> R) throws -> Inputs<R> {
      let fourTimes = fourTimes
      return Inputs<R>(once: try transform(once), twice: try transform(twice)) { try transform(fourTimes()) }
    }
  }

  /// Runs `work` on the inputs, and records an issue if the larger ones cost too much. An error thrown by the work
  /// counts as its end, for all sizes.
  ///
  /// A growing array doubles its capacity, which may happen between the first two sizes; then it does not between the
  /// second and the third.
  static func check<Input>(
    _ what: @autoclosure () -> String,
    factor: Double = 2.2,
    _ inputs: Inputs<Input>,
    _ work: (Input) throws -> Void,
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    // One-time initialization, such as tables of names, happens here.
    try? work(inputs.once)
    let small = Cost.of { try? work(inputs.once) }.cost
    let large = Cost.of { try? work(inputs.twice) }.cost
    guard var excess = large.excess(over: small, factor: factor) else { return }
    if let input = try? inputs.fourTimes() {
      let (cost, result): (Cost, Void?) = Cost.of { try? work(input) }
      if result != nil {
        guard let further = cost.excess(over: large, factor: factor) else { return }
        excess += "; \(further)"
      }
    }
    Issue.record(
      "\(what()): twice the input costs more than twice as much: \(excess)",
      sourceLocation: sourceLocation
    )
  }
}

extension Trait where Self == ConditionTrait {
  /// Skips a test if costs cannot be counted: under a sanitizer.
  static var needsCosts: Self { .enabled(if: Cost.isKnown, "the allocator is the sanitizer's") }
}

@Suite(.needsCosts) struct CostTests {
  @Test func countsAllocationsAndCopies() {
    let (cost, array) = Cost.of { [UInt8](repeating: 7, count: 100_000) }
    #expect(100_000..<101_000 ~= cost.allocated)
    let (copy, text) = Cost.of { String(decoding: array, as: UTF8.self) + "!" }
    #expect(copy.copied >= 100_000, "by the standard library, in its own shared library")
    #expect(text.utf8.count == 100_001)
  }

  @Test func countsEachThreadForItself() async {
    async let elsewhere = Cost.of { [UInt8](repeating: 7, count: 1 << 24) }.cost.allocated
    let here = Cost.of { [UInt8](repeating: 7, count: 1000) }.cost.allocated
    #expect(here < 1 << 20)
    #expect(await elsewhere >= 1 << 24)
  }

  /// Work that copies everything for each item is detected by either count.
  @Test func detectsFasterGrowth() throws {
    func excess(_ work: (Int) -> Void) -> String? {
      Cost.of { work(400) }.cost.excess(over: Cost.of { work(200) }.cost)
    }
    let copying = excess { count in
      var all: [[Int]] = []
      for index in 0..<count {
        let before = all.last ?? []
        all = [before + [index]]
      }
    }
    #expect(copying != nil)
    let moving = excess { count in
      var all: [Int] = []
      all.reserveCapacity(count)
      for index in 0..<count { all.insert(index, at: 0) }
    }
    #expect(moving != nil)
    let linear = excess { count in
      var all: [Int] = []
      for index in 0..<count { all.append(index) }
    }
    #expect(linear == nil)
  }
}
