import CCosts
import Testing

/// What work asks of the allocator and has copied, on the thread that does it. A clock is not needed to see that work grows faster than
/// its input: what is rebuilt for each further item is allocated or moved each time.
struct Cost {
  var allocated = 0
  var copied = 0

  /// Whether costs are counted in this build.
  static let isKnown = switchboard_counts_costs()

  /// The costs of `work` and of freeing what it gave.
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

  /// What of this, the cost for twice the input, is more than 2.2 times `half`. Nil where nothing is; some bytes are there once, whatever
  /// the input.
  func excess(over half: Cost, factor: Double = 2.2, constant: Int = 2048) -> String? {
    func isTooMuch(_ twice: Int, _ once: Int) -> Bool { Double(twice) > factor * Double(once + constant) }
    guard isTooMuch(allocated, half.allocated) || isTooMuch(copied, half.copied) else { return nil }
    return "allocated \(half.allocated), then \(allocated); copied \(half.copied), then \(copied)"
  }
}

/// Measures work on inputs of one size and of twice that.
struct CostCheck {
  /// The items in the smaller input.
  static let items = 128

  /// Does `work` on the input of so many items and of twice as many, and records where that costs more than it should.
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

  /// An input, one that is twice as large, and one that is twice as large again, which is made when it is wanted.
  struct Inputs<Input> {
    let once: Input
    let twice: Input
    let fourTimes: () throws -> Input

    /// The inputs that `input` makes for so many items, and so on.
    init(items: Int = CostCheck.items, _ input: @escaping (Int) throws -> Input) throws {
      self.init(once: try input(items), twice: try input(2 * items)) { try input(4 * items) }
    }

    private init(once: Input, twice: Input, fourTimes: @escaping () throws -> Input) {
      (self.once, self.twice, self.fourTimes) = (once, twice, fourTimes)
    }

    /// What is made of each.
    func map<R>(_ transform: @escaping (Input) throws -> R) throws -> Inputs<R> {
      let fourTimes = fourTimes
      return Inputs<R>(once: try transform(once), twice: try transform(twice)) { try transform(fourTimes()) }
    }
  }

  /// Does `work` on the inputs, and records where the larger costs more than it should. What the work throws ends it for the
  /// larger as for the smaller.
  ///
  /// An array that grows doubles its room, which may fall between the two: then it does not between the second and the third.
  static func check<Input>(
    _ what: @autoclosure () -> String,
    factor: Double = 2.2,
    _ inputs: Inputs<Input>,
    _ work: (Input) throws -> Void,
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    // What is made once in a process, such as tables of names, is made here.
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
  /// Leaves a test out where costs are not counted: under a sanitizer.
  static var needsCosts: Self { .enabled(if: Cost.isKnown, "the allocator is the sanitizer's") }
}

@Suite(.needsCosts) struct CostTests {
  @Test func seesWhatIsAllocatedAndCopied() {
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

  /// What copies all that it has for each further item is found out, by either count.
  @Test func findsWhatGrowsFaster() throws {
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
