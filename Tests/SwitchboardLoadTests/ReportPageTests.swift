import Foundation
import LoadMessages
import SwitchboardLoad
import TestSupport
import Testing

/// The page of a report in a real browser.
@Suite(.mayBlock, .timeLimit(.minutes(5))) struct ReportPageTests {
  private static let browser = "/usr/bin/chromium"
  private static let isInstalled = FileManager.default.isExecutableFile(atPath: browser)

  @Test(.enabled(if: isInstalled, "chromium is not installed: scripts/setup --tests installs it"))
  func aBrowserShowsTheReport() throws {
    let tally = TallyTests.tally(calls: 5000)
    let report = LoadTestReport(
      tally,
      target: "shop:1",
      method: "shop.Shop/Get",
      started: "now",
      load: "words"
    )
    let folder = FileManager.default.temporaryDirectory.appending(path: "switchboard-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let page = folder.appending(path: "report.html")
    try Data(HTMLReport(report, tally).text.utf8).write(to: page)
    let log = folder.appending(path: "net.json")
    let flags = [
      "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
      "--disable-background-networking", "--disable-component-update", "--no-proxy-server",
      "--disable-extensions", "--disable-sync", "--log-net-log=\(log.path)",
      "--user-data-dir=\(folder.appending(path: "profile").path)",
    ]
    let document = try ChildProcess(
      Self.browser,
      flags + ["--dump-dom", page.absoluteString],
      errors: .discarded
    ).allOutput()
    #expect(document.split(separator: "<svg").count == 5)
    #expect(document.contains("<title>Load: shop.Shop/Get</title>"))
    #expect(document.contains("5,000"))
    // What the page asked for, as the browser logs it: nothing but itself.
    let requests = try String(contentsOf: log, encoding: .utf8)
    #expect(!requests.contains("\"initiator\":\"file://"))
  }
}
