/// The results of a benchmark, as one line of `name=value`.
struct Figures {
  private let name: String
  private var values: [String] = []
  private(set) var failed = 0

  init(_ name: String) {
    self.name = name
  }

  mutating func add(_ key: String, _ value: Int) { values.append("\(key)=\(value)") }

  mutating func addRate(_ key: String, _ count: Int, per elapsed: Duration) {
    add(key, Int(Double(count) / max(elapsed / .seconds(1), .leastNonzeroMagnitude)))
  }

  mutating func add(_ latencies: Latencies) {
    values.append("p50=\(latencies.percentile(0.5)) p99=\(latencies.percentile(0.99)) latency_unit=us")
  }

  mutating func addFailed(_ count: Int) {
    failed = count
    add("failed", count)
  }

  var line: String { "\(name) \(values.joined(separator: " "))" }
}
