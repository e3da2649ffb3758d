import CallTestSupport
import EchoService
import EchoTestSupport
import Foundation
import ServerTestSupport
import Switchboard
import SwitchboardCall
import SwitchboardTelemetry
import TestSupport
import Testing

@testable import SwitchboardConsole

/// A service with more methods than a page shows.
private struct ManyMethods: CallHandlerProvider {
  static let methods = (1...500).map {
    MethodDescriptor(service: "many.Many", method: "Method\($0)", type: .unary)
  }
  var serviceName: String { "many.Many" }
  var methodHandlers: [MethodHandler] { Self.methods.map { $0.bytes.unaryHandler { request, _ in request } } }
}

/// The page in Chromium, with real calls.
@Suite(.mayBlock, .timeLimit(.minutes(5))) struct ConsolePageTests {
  private static let isInstalled = FileManager.default.isExecutableFile(atPath: "/usr/bin/chromium")
  private static let token = "a-token-of-the-test"
  private static let hostile = "<img src=x onerror=window.hacked=1>"

  private let telemetry: Telemetry
  private let time = ManualTime()

  init() throws { telemetry = try Telemetry(TelemetryOptions(serviceName: "shop")) }

  private func console() throws -> Console {
    var options = ConsoleOptions()
    options.access = .token(Self.token)
    options.logger = .quiet
    options.maxMethods = 1000
    options.permissions = .everyone([.drain])
    return try Console(telemetry, options, time: time, watches: false)
  }

  @Test(.enabled(if: isInstalled, "chromium is not installed: scripts/setup --tests installs it"))
  func thePageShowsWhatTheServerDoes() async throws {
    var options = ServerOptions()
    options.observer = telemetry.observer()
    try await withPair([FailingEcho(), ManyMethods()], options: options) { pair async throws in
      let first = try console()
      var console = first
      first.add(pair.server, name: Self.hostile)
      first.add(pair.channel, name: Self.hostile)
      try await call(pair.channel)
      time.advance(by: .seconds(5))
      await first.look()
      let address = try first.serve(port: 0)
      let port = Int(address.port)
      var arguments = ["http://127.0.0.1:\(address.port)", Self.token]
      if let pictures = ProcessInfo.processInfo.environment["CONSOLE_PICTURES"] { arguments.append(pictures) }
      let browser = try PythonPeer("console_page.py", arguments)
      var last: String?
      while let line = browser.line() {
        last = line
        switch line {
        case "stop": await console.shutDown()
        case "start":
          let next = try self.console()
          next.add(pair.server, name: Self.hostile)
          await next.look()
          try next.serve(port: port)
          console = next
        default: #expect(line == "done" || line.hasPrefix("ok "), "\(line)")
        }
      }
      #expect(last == "done", "the browser's last step: \(last ?? "none")")
      await console.shutDown()
    }
    await telemetry.shutDown()
  }

  /// One call of each method, and more of the echo, so that it is the busiest.
  private func call(_ channel: Channel) async throws {
    let client = Echo_EchoClient(channel: channel)
    for number in 0..<600 {
      do {
        _ = try await client.get(.with { $0.text = number % 50 == 0 ? "fail" : "x" })
      } catch {}
    }
    for method in ManyMethods.methods { _ = try await channel.call(method).unary([1]) }
  }
}
