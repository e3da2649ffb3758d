import CallTestSupport
import SwitchboardCall
import Testing

@testable import SwitchboardNetwork
@testable import SwitchboardTransport

/// Interceptors that were registered, and that nobody uses, are reported to the first server or channel without a registry.
@Suite(.timeLimit(.minutes(5))) struct UnusedRegistryMistakeTests {
  private struct KeyGuard: ServerGuard {
    func check(_ headers: HPACKHeaders, of call: ServerCallContext) {}
  }

  private struct Both: InterceptorFactory {
    func makeServerInterceptors<Request: Sendable, Response: Sendable>(
      for method: MethodDescriptor
    ) -> [ServerInterceptor<Request, Response>] { [] }

    func makeClientInterceptors<Request: Sendable, Response: Sendable>(
      for method: MethodDescriptor
    ) -> [ClientInterceptor<Request, Response>] { [] }
  }

  private final class Entries: LogHandler {
    private let state = Locked<[(level: LogLevel, details: [String: String])]>([])
    var all: [(level: LogLevel, details: [String: String])] { state.withLock { $0 } }

    func log(_ level: LogLevel, _ message: String, _ metadata: [String: String]) {
      if message.hasPrefix("interceptors were registered") { state.withLock { $0.append((level, metadata)) } }
    }
  }

  /// Other tests make servers meanwhile, which may take the report of this registry.
  @Test func aServerWithoutTheRegistrySaysSo() throws {
    let entries = Entries()
    var options = ServerOptions()
    options.logger = Logger(entries)
    while !Task.isCancelled, entries.all.isEmpty {
      do { try InterceptorRegistry().register(server: KeyGuard()) }
      _ = try Router([], options)
    }
    #expect(entries.all.first?.level == .error)
    #expect(entries.all.first?.details["interceptors"]?.contains("KeyGuard") == true)
    #expect(entries.all.first?.details["hint"]?.contains("set ServerOptions.interceptorRegistry") == true)
    let count = entries.all.count
    try InterceptorRegistry().register(server: KeyGuard())
    options.interceptorRegistry = InterceptorRegistry()
    _ = try Server(providers: [], options: options)
    #expect(entries.all.count == count)
  }

  /// Programs may make registries for as long as they run.
  @Test func registriesThatHadAUserLeaveNothing() throws {
    let (unused, entries) = (UnusedFactories(), Entries())
    for _ in 0..<1000 {
      let registry = InterceptorRegistry(unused)
      try registry.register(Both())
      _ = registry.freeze(for: .channel)
    }
    unused.report(to: .server, Logger(entries))
    #expect(entries.all.isEmpty)
    for _ in 0..<1000 { try InterceptorRegistry(unused).register(server: KeyGuard()) }
    try InterceptorRegistry(unused).register(Both())
    unused.report(to: .server, Logger(entries))
    #expect(entries.all.map { $0.details["interceptors"] } == ["KeyGuard"])
  }

  @Test func aChannelWithoutTheRegistrySaysSo() throws {
    let entries = Entries()
    var options = ChannelOptions()
    options.logger = Logger(entries)
    while !Task.isCancelled, entries.all.isEmpty {
      try InterceptorRegistry().register(client: Both())
      _ = try Channel(target: "localhost:1", options: options)
    }
    #expect(entries.all.first?.level == .warning)
    #expect(entries.all.first?.details["hint"]?.contains("set ChannelOptions.interceptorRegistry") == true)
  }

  @Test func eachSideIsReportedOnceUnlessItIsUsed() throws {
    let unused = UnusedFactories()
    let entries = Entries()
    let logger = Logger(entries)
    let (used, forgotten) = (InterceptorRegistry(unused), InterceptorRegistry(unused))
    try used.register(Both())
    _ = used.freeze(for: .channel)
    unused.report(to: .channel, logger)
    #expect(entries.all.isEmpty)
    // The channel's use is not the server's.
    try forgotten.register(server: KeyGuard())
    unused.report(to: .server, .quiet)
    for _ in 0..<2 { unused.report(to: .server, logger) }
    #expect(entries.all.map { $0.details["interceptors"] } == ["Both, KeyGuard"])
    _ = forgotten.freeze(for: .server)
    unused.report(to: .server, logger)
    #expect(entries.all.count == 1)
  }
}
