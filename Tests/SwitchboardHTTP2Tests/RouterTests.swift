import CallTestSupport
import SwitchboardCall
import Testing

@testable import SwitchboardHTTP2

@Suite(.timeLimit(.minutes(5))) struct RouterTests {
  private struct Service: CallHandlerProvider {
    let answer: UInt8
    var serviceName: String { "test.Test" }
    var methodHandlers: [MethodHandler] { [TestService.get.bytes.unaryHandler { _, _ in [answer] }] }
  }

  private struct Entries: LogHandler {
    let entries = SharedEntries()

    func log(_ level: LogLevel, _ message: String, _ metadata: [String: String]) {
      entries.lines.withLock { $0.append("\(level): \(message): \(metadata["method"] ?? "")") }
    }
  }

  private final class SharedEntries: Sendable {
    let lines = Locked<[String]>([])
  }

  @Test func aSecondServiceWithAMethodReplacesItWithAWarning() async throws {
    let log = Entries()
    var options = ServerOptions()
    options.logger = Logger(log)
    let services = [Service(answer: 1), Service(answer: 2)]
    let channel = try Channel(inProcess: services, options: options)
    #expect(try await channel.call(TestService.get).unary([]) == [2])
    let warning = "warning: two services have the same method; the later one serves it: /test.Test/Get"
    #expect(log.entries.lines.withLock { $0 } == [warning])
    await channel.shutDown(grace: .zero)
  }
}
