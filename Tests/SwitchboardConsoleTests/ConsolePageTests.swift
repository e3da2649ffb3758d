import CallTestSupport
import CertificateSupport
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

/// A service that waits or fails if its texts say so, with hostile messages.
private struct PageEcho: EchoingProvider {
  let gate = OneShot<Void>()

  func get(request: Echo_EchoRequest, context: ServerCallContext) async throws -> Echo_EchoResponse {
    if request.text == "fail" {
      throw GRPCStatus(code: .aborted, message: "\(ConsolePageTests.hostile) was out of stock")
    }
    if request.text == "wait" { try await gate.value() }
    return .with { $0.text = request.text }
  }
}

/// An interceptor that passes everything on.
private final class CheckingStock<Request: Sendable, Response: Sendable>: ServerInterceptor<Request, Response>
{}

private struct CheckingStockFactory: ServerInterceptorFactory {
  func makeServerInterceptors<Request: Sendable, Response: Sendable>(
    for method: MethodDescriptor
  ) -> [ServerInterceptor<Request, Response>] { [CheckingStock()] }
}

/// The page in Chromium, with real calls.
@Suite(.mayBlock, .timeLimit(.minutes(5))) struct ConsolePageTests {
  private static let isInstalled = FileManager.default.isExecutableFile(atPath: "/usr/bin/chromium")
  private static let token = "a-token-of-the-test"
  fileprivate static let hostile = "<img src=x onerror=window.hacked=1>"

  private let telemetry: Telemetry
  private let time = ManualTime()

  init() throws {
    var options = TelemetryOptions(serviceName: "shop")
    options.sampler = .parentBased(.ratio(0.01))
    options.exporters = [.spans { _ in }]
    telemetry = try Telemetry(options)
  }

  private func console() throws -> Console {
    var options = ConsoleOptions()
    options.access = .token(Self.token)
    options.logger = .quiet
    options.maxMethods = 1000
    options.permissions = .everyone(Set(ConsolePermission.allCases))
    options.shownMetadata.append("note")
    options.traceLink = "https://traces.example/trace/{trace}?span={span}"
    return try Console(telemetry, options, time: time, watches: false)
  }

  @Test(.enabled(if: isInstalled, "chromium is not installed: scripts/setup --tests installs it"))
  func thePageShowsWhatTheServerDoes() async throws {
    var options = ServerOptions()
    options.observer = telemetry.observer()
    options.interceptorFactories = [CheckingStockFactory()]
    var channelOptions = ChannelOptions()
    channelOptions.observer = telemetry.observer()
    let echo = PageEcho()
    try await withPair([echo, ManyMethods()], options: options, channel: channelOptions) {
      pair async throws in
      let first = try console()
      var console = first
      first.add(pair.server, name: Self.hostile)
      first.add(pair.channel, name: Self.hostile)
      let expired = try expiredServer()
      first.add(expired, name: "back office")
      try await call(pair.channel)
      time.advance(by: .seconds(5))
      await first.look()
      async let waiting = Echo_EchoClient(channel: pair.channel).get(.with { $0.text = "wait" })
      let address = try first.serve(port: 0)
      let port = Int(address.port)
      var arguments = ["http://127.0.0.1:\(address.port)", Self.token]
      if let pictures = ProcessInfo.processInfo.environment["CONSOLE_PICTURES"] { arguments.append(pictures) }
      let browser = try PythonPeer("console_page.py", arguments)
      var last: String?
      while let line = browser.line() {
        last = line
        switch line {
        case "call": try await callWhileSomebodyLooks(pair)
        case "stop": await console.shutDown()
        case "profile": await passProfile(of: console, Echo_EchoClient(channel: pair.channel))
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
      echo.gate.settle(.success(()))
      _ = try await waiting
      await console.shutDown()
    }
    await telemetry.shutDown()
  }

  /// Calls with hostile metadata, some of which fail.
  private func callWhileSomebodyLooks(_ pair: ServerPair) async throws {
    let client = Echo_EchoClient(channel: pair.channel)
    var options = CallOptions()
    options.initialMetadata = ["note": Self.hostile, "authorization": "Bearer secret"]
    for text in ["x", "fail", "y"] {
      do { _ = try await client.get(.with { $0.text = text }, callOptions: options) } catch {}
    }
    for try await _ in client.expand(.with { $0.text = "several words of an answer" }) {}
    time.advance(by: .seconds(1))
  }

  /// A server whose certificate has expired.
  private func expiredServer() throws -> Server {
    var options = ServerOptions()
    options.maxRequestSize = 64 * 1024 * 1024
    options.logger = .quiet
    let chain = SpecialCertificates.expiredCertificate
    options.tls = ServerTLS(
      credentials: TLSCredentials(certificateChain: chain, privateKey: SpecialCertificates.expiredKey)
    )
    return try Server(providers: [], options: options)
  }

  /// Lets the time of a profile pass, while calls are made.
  private func passProfile(of console: Console, _ client: Echo_EchoClient) async {
    let view = console.views.all.lazy.compactMap { $0 as? ProfileView }.first
    let calls = Task {
      while !Task.isCancelled {
        _ = try? await client.get(.with { $0.text = String(repeating: "x", count: 10_000) })
      }
    }
    // Others may sleep, too, and be woken in its place. It looks fewer times than it would, because each takes long on a busy
    // machine.
    while view?.taker.latest?.isRunning == true, !Task.isCancelled {
      if time.sleeperCount > 0 { time.advance(by: ProfileTaker.interval * 5) }
      await Task.yield()
    }
    calls.cancel()
    await calls.value
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
