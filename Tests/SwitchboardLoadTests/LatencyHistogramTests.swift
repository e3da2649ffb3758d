import LoadMessages
import SwitchboardLoad
import Testing

struct LatencyHistogramTests {
  @Test func percentilesAreWithinHalfAPercent() {
    var numbers = SeededNumbers(seed: 1)
    var histogram = LatencyHistogram()
    var values: [UInt64] = []
    for _ in 0..<20_000 {
      // From nanoseconds to minutes, each size as likely as any other.
      let value = UInt64.random(in: 1..<(1 << UInt64.random(in: 1...36, using: &numbers)), using: &numbers)
      values.append(value)
      histogram.add(value)
    }
    values.sort()
    for share in [0.01, 0.1, 0.5, 0.9, 0.99, 0.999, 0.9999] {
      let exact = Double(values[Int((share * Double(values.count)).rounded(.up)) - 1])
      #expect(abs(histogram.quantile(share) - exact) <= exact * 0.004 + 0.5, "\(share)")
    }
    #expect(histogram.quantile(0) == Double(values[0]))
    #expect(histogram.quantile(1) == Double(values[values.count - 1]))
    let mean = values.reduce(0.0) { $0 + Double($1) } / Double(values.count)
    #expect(abs(histogram.mean - mean) < mean * 1e-9)
  }

  @Test func emptyHistogramsHaveNoFigures() {
    let histogram = LatencyHistogram()
    #expect(histogram.quantile(0.5) == 0)
    #expect(histogram.minimum == 0)
    #expect(histogram.mean == 0)
    #expect(histogram.deviation == 0)
  }

  @Test func valuesBeyondTheRangeCountAsTheLargest() {
    var histogram = LatencyHistogram()
    histogram.add(.max)
    #expect(histogram.maximum == LatencyHistogram.largest)
    #expect(histogram.quantile(0.5) == Double(LatencyHistogram.largest))
  }

  @Test func partsAddUpToTheWhole() throws {
    var numbers = SeededNumbers(seed: 2)
    var parts = [LatencyHistogram](repeating: LatencyHistogram(), count: 3)
    var whole = LatencyHistogram()
    for index in 0..<3000 {
      let value = UInt64.random(in: 0..<1_000_000, using: &numbers)
      parts[index % 3].add(value)
      whole.add(value)
    }
    var sum = LatencyHistogram()
    for part in parts { sum.add(try #require(LatencyHistogram(part.message))) }
    for share in [0, 0.25, 0.5, 0.99, 1] { #expect(sum.quantile(share) == whole.quantile(share)) }
    #expect(sum.count == 3000)
    #expect(sum.minimum == whole.minimum)
  }

  @Test func inconsistentMessagesAreRejected() {
    var histogram = LatencyHistogram()
    for value: UInt64 in [3, 500, 80_000] { histogram.add(value) }
    let good = histogram.message
    #expect(LatencyHistogram(good) == histogram)
    let changes: [(inout LoadTestHistogram) -> Void] = [
      { $0.skipped[1] = .max },
      { $0.counts.append(1) },
      { $0.counts[0] = .max },
      { $0.minimum = $0.maximum + 1 },
      { $0.maximum = .max },
      { $0.sum = .nan },
      { $0.sumOfSquares = -1 },
      { $0.skipped = [UInt32](repeating: .max, count: 3) },
    ]
    for (index, change) in changes.enumerated() {
      var bad = good
      change(&bad)
      #expect(LatencyHistogram(bad) == nil, "\(index)")
    }
  }
}
