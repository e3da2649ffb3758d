import Switchboard
import SwitchboardTelemetry
import Synchronization

/// Collects spans, and prints each trace as a tree.
final class TraceTree: Sendable {
  private let spans = Mutex<[FinishedSpan]>([])

  func add(_ more: [FinishedSpan]) { spans.withLock { $0 += more } }

  func show() {
    let all = spans.withLock { $0 }.sorted { $0.start < $1.start }
    let known = Set(all.map(\.context.spanID))
    for root in all where root.parent.map({ !known.contains($0) }) ?? true { show(root, of: all, depth: 0) }
  }

  private func show(_ span: FinishedSpan, of all: [FinishedSpan], depth: Int) {
    let failure = span.failure.map { "  \($0)" } ?? ""
    print("\(String(repeating: "  ", count: depth))\(span.name)\(failure)")
    for child in all where child.parent == span.context.spanID { show(child, of: all, depth: depth + 1) }
  }
}
