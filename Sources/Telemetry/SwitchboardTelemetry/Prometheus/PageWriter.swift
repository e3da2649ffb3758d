import SwitchboardCall
import SwitchboardTransport

/// Writes the page for scrapers. All requests that wait share one, so that many cost no more than one.
///
/// A page shows what was recorded before it was asked for: requests that come while one is written share the next. They
/// are written one at a time, on a thread with low priority, and take a tenth of its time at most.
final class PageWriter: Sendable {
  private typealias Page = OneShot<HTTPPage.Response>

  private struct State: Sendable {
    /// The pages that requests wait for, and that are not begun.
    var wanted: [PrometheusText.Format: Page] = [:]
    var isWriting = false
  }

  private let metrics: TelemetryMetrics
  private let resource: Resource
  private let time: ExportTime
  private let state = Locked(State())
  private let writing = Locked<Task<Void, Never>?>(nil)

  init(_ metrics: TelemetryMetrics, _ resource: Resource, _ time: ExportTime) {
    self.metrics = metrics
    self.resource = resource
    self.time = time
  }

  var serviceName: String { resource.serviceName }

  func text(_ format: PrometheusText.Format) -> String {
    let (text, missing) = PrometheusText.text(metrics.snapshot(), resource, format)
    metrics.reportMissingOnPage(missing)
    return text
  }

  /// The page that is begun next. Throws if the task is cancelled.
  func next(_ format: PrometheusText.Format) async throws -> HTTPPage.Response {
    let (page, isFirst) = state.withLock { state in
      let page = state.wanted[format] ?? Page()
      state.wanted[format] = page
      defer { state.isWriting = true }
      return (page, !state.isWriting)
    }
    if isFirst {
      let task = Task.detached(priority: .utility) { await self.write() }
      writing.withLock { $0 = task }
    }
    return try await page.value()
  }

  /// Ends the pause after the last page.
  func stop() { writing.withLock { $0 }?.cancel() }

  private func write() async {
    while let wanted = takeWanted() {
      let start = time.now
      for (format, page) in wanted {
        page.settle(.success(HTTPPage.Response(contentType: format.contentType, body: text(format).utf8)))
      }
      _ = await time.sleep(start.duration(to: time.now) * 9)
    }
  }

  private func takeWanted() -> [PrometheusText.Format: Page]? {
    state.withLock { state in
      state.isWriting = !state.wanted.isEmpty
      defer { state.wanted = [:] }
      return state.isWriting ? state.wanted : nil
    }
  }
}
