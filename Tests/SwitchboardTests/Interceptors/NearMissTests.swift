import Foundation
import TestSupport
import Testing

/// Code that is nearly right, and whose interceptors would never run, does not compile; nor does code for another version.
@Suite(.mayBlock, .timeLimit(.minutes(10))) struct NearMissTests {
  private struct NearMiss {
    var name: String
    /// A part of the compiler's error; empty if the code is right.
    var error: String
    var code: String
  }

  @Test func nearMissesDoNotCompile() throws {
    let messages = try errors(
      of: Self.right + Self.wrong
    )
    for miss in Self.right { #expect(messages[miss.name] == nil) }
    for miss in Self.wrong {
      let found = messages[miss.name] ?? []
      #expect(found.contains { $0.contains(miss.error) }, "\(miss.name): \(found)")
    }
    #expect(messages.count == Self.wrong.count)
  }

  /// The package manager passes the modules of C to targets that depend on the product only, but all can import it.
  @Test func aTargetThatDoesNotDependOnTheProduct() throws {
    let file = try temporaryFile(Array("import Switchboard\n".utf8), suffix: "swift")
    let compiler = try Command.run("swiftc", Self.checking + modules + [file])
    #expect(compiler.errors.contains("error: missing required module 'C"), "\(compiler.errors)")
  }

  @Test(arguments: ["Switchboard", "SwitchboardProtobuf"])
  func codeThatAnotherVersionGenerated(library: String) throws {
    let code = ["0_1", "0_0"].map { "typealias Fits\($0) = \(library)._GeneratedBySwitchboard_\($0)\n" }
    let file = try temporaryFile(Array("import \(library)\n\(code.joined())".utf8), suffix: "swift")
    let compiler = try Command.run("swiftc", Self.checking + modules + moduleMaps() + [file])
    let expected = "error: no type named '_GeneratedBySwitchboard_0_0' in module '\(library)'"
    #expect(compiler.errors.contains(expected), "\(compiler.errors)")
    #expect(!compiler.errors.contains("named '_GeneratedBySwitchboard_0_1'"))
  }

  // MARK: The code

  private static let right = [
    NearMiss(
      name: "right",
      error: "",
      code: """
        struct Guards: Echo_EchoServerInterceptorFactoryProtocol {
          func makeGetInterceptors() -> [ServerInterceptor<Echo_EchoRequest, Echo_EchoResponse>] { [Guard()] }
          func makeExpandInterceptors() -> [ServerInterceptor<Echo_EchoRequest, Echo_EchoResponse>] { [] }
          func makeCollectInterceptors() -> [ServerInterceptor<Echo_EchoRequest, Echo_EchoResponse>] { [] }
          func makeUpdateInterceptors() -> [ServerInterceptor<Echo_EchoRequest, Echo_EchoResponse>] { [] }
        }
        struct One: Service {
          var interceptors: Echo_EchoServerInterceptorFactoryProtocol? { Guards() }
        }
        struct Two: Service {
          var interceptors: Interceptors? { Echo_EchoServerInterceptors(KeyGuard(), get: { [Guard()] }) }
        }
        struct Both: InterceptorFactory {
          func makeClientInterceptors<Request: Sendable, Response: Sendable>(
            for method: MethodDescriptor
          ) -> [ClientInterceptor<Request, Response>] { [] }
          func makeServerInterceptors<Request: Sendable, Response: Sendable>(
            for method: MethodDescriptor
          ) -> [ServerInterceptor<Request, Response>] { [] }
        }
        func use(_ channel: Channel) throws {
          _ = Echo_EchoClient(channel: channel, interceptors: Echo_EchoClientInterceptors(Both()))
          _ = Echo_EchoClient(channel: channel, interceptors: Echo_EchoClientInterceptors(get: { [Stamp()] }))
          var options = ServerOptions()
          options.requiredInterceptors = [Guard.self, KeyGuard.self]
          options.interceptorFactories = [KeyGuard(), Both()]
          try InterceptorRegistry.process.register(Both())
        }
        """
    )
  ]

  private static let wrong = ofServers + ofClients + ofBoth + ofHandlers + ofOptions

  private static let ofServers = [
    NearMiss(
      name: "aMisspeltMethodOfAFactory",
      error: "does not conform to protocol 'Echo_EchoServerInterceptorFactoryProtocol'",
      code: factory(
        "Server",
        get: "makeGettInterceptors() -> [ServerInterceptor<Request, Response>] { [Guard()] }"
      )
    ),
    NearMiss(
      name: "aFactoryThatReturnsItsOwnType",
      error: "does not conform to protocol 'Echo_EchoServerInterceptorFactoryProtocol'",
      code: factory("Server", get: "makeGetInterceptors() -> [Guard] { [Guard()] }")
    ),
    NearMiss(
      name: "aFactoryWithoutAMethod",
      error: "does not conform to protocol 'Echo_EchoServerInterceptorFactoryProtocol'",
      code: factory("Server", get: nil)
    ),
    NearMiss(
      name: "interceptorsOfTheirOwnType",
      error: "does not conform to protocol 'Echo_EchoProvider'",
      code: "struct Provider: Service { var interceptors: Echo_EchoServerInterceptors? { nil } }"
    ),
    NearMiss(
      name: "interceptorsThatAreNotOptional",
      error: "does not conform to protocol 'Echo_EchoProvider'",
      code:
        "struct Provider: Service { var interceptors: Interceptors { Echo_EchoServerInterceptors(KeyGuard()) } }"
    ),
    NearMiss(
      name: "aMisspeltProperty",
      error: "does not conform to protocol 'Echo_EchoProvider'",
      code: "struct Provider: Service { var interceptor: Interceptors? { nil } }"
    ),
    NearMiss(
      name: "noInterceptors",
      error: "does not conform to protocol 'Echo_EchoProvider'",
      code: "struct Provider: Service {}"
    ),
    NearMiss(
      name: "aFactoryOfTheOtherSide",
      error: "Echo_EchoClientInterceptors",
      code: """
        struct Provider: Service {
          var interceptors: Interceptors? { Echo_EchoClientInterceptors(get: { [Stamp()] }) }
        }
        """
    ),
    NearMiss(
      name: "aMisspeltLabelOfAServer",
      error: "gett",
      code: "let interceptors = Echo_EchoServerInterceptors(gett: { [Guard()] })"
    ),
    NearMiss(
      name: "noLabelOfAServer",
      error: "expects 1 argument",
      code: "let interceptors = Echo_EchoServerInterceptors { [Guard()] }"
    ),
    NearMiss(
      name: "interceptorsOfNoMethodOfAServer",
      error: "call can throw",
      code: "func use() { _ = Echo_EchoServerInterceptors() }"
    ),
    NearMiss(
      name: "interceptorsOfNoMethodOfAClient",
      error: "'init()' is deprecated: it makes no interceptors: name a method, as get, or pass a factory",
      code: """
        func use(_ channel: Channel) {
          _ = Echo_EchoClient(channel: channel, interceptors: Echo_EchoClientInterceptors())
        }
        """
    ),
    NearMiss(
      name: "aMisspeltGuard",
      error: "has different argument labels from those required",
      code:
        "struct Mine: ServerGuard { func check(headers: HPACKHeaders, of call: ServerCallContext) throws {} }"
    ),
    NearMiss(
      name: "aClientsFactoryForAServer",
      error: "ServerInterceptorFactory",
      code: """
        struct Mine: ClientInterceptorFactory {
          func makeClientInterceptors<Request: Sendable, Response: Sendable>(
            for method: MethodDescriptor
          ) -> [ClientInterceptor<Request, Response>] { [] }
        }
        func use(_ options: inout ServerOptions) { options.interceptorFactories = [Mine()] }
        """
    ),
    NearMiss(
      name: "aWrongLabelOfAServersFactory",
      error: "has different argument labels from those required",
      code: """
        struct Mine: ServerInterceptorFactory {
          func makeServerInterceptors<Request: Sendable, Response: Sendable>(
            of method: MethodDescriptor
          ) -> [ServerInterceptor<Request, Response>] { [] }
        }
        """
    ),
  ]

  private static let ofClients = [
    NearMiss(
      name: "aMisspeltMethodOfAClientsFactory",
      error: "does not conform to protocol 'Echo_EchoClientInterceptorFactoryProtocol'",
      code: factory(
        "Client",
        get: "makeGettInterceptors() -> [ClientInterceptor<Request, Response>] { [Stamp()] }"
      )
    ),
    NearMiss(
      name: "aClientsFactoryThatReturnsItsOwnType",
      error: "does not conform to protocol 'Echo_EchoClientInterceptorFactoryProtocol'",
      code: factory("Client", get: "makeGetInterceptors() -> [Stamp] { [Stamp()] }")
    ),
    NearMiss(
      name: "aMisspeltLabelOfAClient",
      error: "gett",
      code: "let interceptors = Echo_EchoClientInterceptors(gett: { [Stamp()] })"
    ),
    NearMiss(
      name: "noLabelOfAClient",
      error: "expects 1 argument",
      code: "let interceptors = Echo_EchoClientInterceptors { [Stamp()] }"
    ),
    NearMiss(
      name: "aWrongLabelOfAClientsFactory",
      error: "has different argument labels from those required",
      code: """
        struct Mine: ClientInterceptorFactory {
          func makeClientInterceptors<Request: Sendable, Response: Sendable>(
            of method: MethodDescriptor
          ) -> [ClientInterceptor<Request, Response>] { [] }
        }
        """
    ),
  ]

  private static let ofBoth = [
    NearMiss(
      name: "aCodeByItsOtherName",
      error: "'internal' has been renamed to 'internalError'",
      code: "let status = GRPCStatus(code: .internal, message: \"it broke\")"
    ),
    NearMiss(
      name: "aCodeInAnotherSpelling",
      error: "'canceled' has been renamed to 'cancelled'",
      code: "let status = GRPCStatus(code: .canceled)"
    ),
    NearMiss(
      name: "aStatusWithoutItsCode",
      error: "type 'GRPCStatus' has no member 'notFound'",
      code: "let status = GRPCStatus.notFound(\"sold out\")"
    ),
    NearMiss(
      name: "aFactoryOfOneSideForBoth",
      error: "does not conform to protocol 'ClientInterceptorFactory'",
      code: """
        struct Mine: InterceptorFactory {
          func makeServerInterceptors<Request: Sendable, Response: Sendable>(
            for method: MethodDescriptor
          ) -> [ServerInterceptor<Request, Response>] { [] }
        }
        """
    ),
  ]

  private static let ofHandlers = [
    NearMiss(
      name: "aMisspeltMethodOfAHandler",
      error: "does not conform to protocol 'ResponseHandler'",
      code: """
        final class Mine: ResponseHandler {
          let dispatchQueue = DispatchQueue(label: "mine")
          func receiveMessage(_ message: Echo_EchoResponse) {}
          func closed(trailingMetadata: HPACKHeaders, error: GRPCStatus?) {}
        }
        """
    ),
    NearMiss(
      name: "anEndWithAnotherError",
      error: "does not conform to protocol 'ResponseHandler'",
      code: """
        final class Mine: ResponseHandler {
          let dispatchQueue = DispatchQueue(label: "mine")
          func receivedMessage(_ message: Echo_EchoResponse) {}
          func closed(trailingMetadata: HPACKHeaders, error: (any Error)?) {}
        }
        """
    ),
  ]

  /// Options that are set elsewhere.
  private static let ofOptions = [
    NearMiss(
      name: "aTimeoutOfAChannel",
      error: "'timeout' is unavailable: calls have timeouts: set CallOptions.timeout",
      code: "func use(_ options: inout ChannelOptions) { options.timeout = .seconds(5) }"
    ),
    NearMiss(
      name: "aDeadlineOfACall",
      error: "'deadline' is unavailable: a call has a timeout, from its start: set timeout",
      code: "func use(_ options: inout CallOptions) { options.deadline = .now + .seconds(5) }"
    ),
    NearMiss(
      name: "metadataOfACallByAnotherName",
      error: "'metadata' has been renamed to 'initialMetadata'",
      code: "func use(_ options: inout CallOptions) { options.metadata.add(name: \"a\", value: \"b\") }"
    ),
    NearMiss(
      name: "aTokenOfACallByAnotherName",
      error: "'token' has been renamed to 'oauth2AccessToken'",
      code: "func use(_ options: inout CallOptions) { options.token = \"secret\" }"
    ),
    NearMiss(
      name: "aChannelThatIsClosed",
      error: "'close()' has been renamed to 'shutDown(grace:)'",
      code: "func use(_ channel: Channel) async { await channel.close() }"
    ),
    NearMiss(
      name: "aServerThatIsStopped",
      error: "'stop()' has been renamed to 'shutDown(grace:)'",
      code: "func use(_ server: Server) async { await server.stop() }"
    ),
    NearMiss(
      name: "aChannelThatIsShutDownByAnotherName",
      error: "'shutdown()' has been renamed to 'shutDown(grace:)'",
      code: "func use(_ channel: Channel) async { await channel.shutdown() }"
    ),
    NearMiss(
      name: "aServerThatIsShutDownByAnotherName",
      error: "'shutdown()' has been renamed to 'shutDown(grace:)'",
      code: "func use(_ server: Server) async { await server.shutdown() }"
    ),
    NearMiss(
      name: "plaintextByAnotherName",
      error: "'insecure' has been renamed to 'plaintext'",
      code: "func use(_ options: inout ChannelOptions) { options.security = .insecure }"
    ),
    NearMiss(
      name: "aServerThatIsClosed",
      error: "'close()' has been renamed to 'shutDown(grace:)'",
      code: "func use(_ server: Server) async { await server.close() }"
    ),
    NearMiss(
      name: "aLoopOfAGroup",
      error: "give the group itself: a channel or a server takes one of its loops",
      code: "func use(_ group: LoopGroup) { _ = group.next() }"
    ),
    NearMiss(
      name: "aServerThatServes",
      error: "call bind(host:port:), and then run()",
      code: "func use(_ server: Server) async throws { try await server.serve() }"
    ),
    NearMiss(
      name: "aServerThatStarts",
      error: "'start()' is unavailable: call bind(host:port:), and then run()",
      code: "func use(_ server: Server) async throws { try await server.start() }"
    ),
    NearMiss(
      name: "trailersOfAContext",
      error: "'trailers' is unavailable: call setTrailers(_:)",
      code: "func use(_ context: ServerCallContext) { context.trailers.add(name: \"a\", value: \"b\") }"
    ),
    NearMiss(
      name: "responsesThatAreFinished",
      error: "'finish()' is unavailable: the responses end when the handler returns",
      code: "func use(_ writer: ResponseStreamWriter<Int>) { writer.finish() }"
    ),
    NearMiss(
      name: "aRequestThatIsWritten",
      error: "'write' has been renamed to 'send(_:)'",
      code: "func use(_ writer: RequestStreamWriter<Int>) async throws { try await writer.write(1) }"
    ),
    NearMiss(
      name: "requestsThatAreClosed",
      error: "'closeSend()' has been renamed to 'finish()'",
      code: "func use(_ writer: RequestStreamWriter<Int>) { writer.closeSend() }"
    ),
    NearMiss(
      name: "aResponseThatIsWritten",
      error: "'write' has been renamed to 'send(_:)'",
      code: "func use(_ writer: ResponseStreamWriter<Int>) async throws { try await writer.write(1) }"
    ),
    NearMiss(
      name: "theMetadataOfAContext",
      error: "'metadata' has been renamed to 'headers'",
      code: "func use(_ context: ServerCallContext) -> HPACKHeaders { context.metadata }"
    ),
    NearMiss(
      name: "aLoggerOfAnotherLibrary",
      error: "write log(.info,",
      code: "func use(_ logger: Logger) { logger.info(\"a\") }"
    ),
    NearMiss(
      name: "aGuardThatIsAsynchronous",
      error: "does not conform to protocol 'ServerGuard'",
      code:
        "struct Mine: ServerGuard { func check(_ headers: HPACKHeaders, of call: ServerCallContext) async throws {} }"
    ),
    NearMiss(
      name: "aGuardThatReturnsItsAnswer",
      error: "does not conform to protocol 'ServerGuard'",
      code:
        "struct Mine: ServerGuard { func check(_ headers: HPACKHeaders, of call: ServerCallContext) -> Bool { true } }"
    ),
    NearMiss(
      name: "aGuardOfAClient",
      error: "'any ClientInterceptorFactory'",
      code: "func use(_ options: inout ChannelOptions) { options.interceptorFactories = [KeyGuard()] }"
    ),
    NearMiss(
      name: "aRequiredInterceptorThatIsAValue",
      error: "cannot assign value of type 'KeyGuard' to type 'RequiredInterceptors'",
      code: "func use(_ options: inout ServerOptions) { options.requiredInterceptors = KeyGuard() }"
    ),
    NearMiss(
      name: "aTimeoutInSeconds",
      error: "cannot assign value of type 'Int' to type 'Duration'",
      code: "func use(_ options: inout CallOptions) { options.timeout = 5 }"
    ),
    NearMiss(
      name: "aCompressionOfAChannel",
      error: "'compression' is unavailable: calls are compressed: set CallOptions.compression",
      code: "func use(_ options: inout ChannelOptions) { options.compression = .gzip }"
    ),
    NearMiss(
      name: "aLimitOfAChannelByTheServersName",
      error: "'maxResponseSize' has been renamed to 'responseSizeLimit'",
      code: "func use(_ options: inout ChannelOptions) { options.maxResponseSize = 1024 }"
    ),
    NearMiss(
      name: "aLimitOfAChannelByAnotherName",
      error: "'maxMessageSize' has been renamed to 'responseSizeLimit'",
      code: "func use(_ options: inout ChannelOptions) { options.maxMessageSize = 1024 }"
    ),
    NearMiss(
      name: "aLimitOfAServerByAnotherName",
      error: "'maxMessageSize' has been renamed to 'maxRequestSize'",
      code: "func use(_ options: inout ServerOptions) { options.maxMessageSize = 1024 }"
    ),
    NearMiss(
      name: "theIntervalOfAChannelsPingsInAnotherCase",
      error: "'keepAliveInterval' has been renamed to 'keepaliveInterval'",
      code: "func use(_ options: inout ChannelOptions) { options.keepAliveInterval = .seconds(30) }"
    ),
    NearMiss(
      name: "theIntervalOfAServersPingsInAnotherCase",
      error: "'keepAliveInterval' has been renamed to 'keepaliveInterval'",
      code: "func use(_ options: inout ServerOptions) { options.keepAliveInterval = .seconds(30) }"
    ),
    NearMiss(
      name: "theTimeoutOfAChannelsPingsInAnotherCase",
      error: "'keepAliveTimeout' has been renamed to 'keepaliveTimeout'",
      code: "func use(_ options: inout ChannelOptions) { options.keepAliveTimeout = .seconds(5) }"
    ),
    NearMiss(
      name: "theTimeoutOfAServersPingsInAnotherCase",
      error: "'keepAliveTimeout' has been renamed to 'keepaliveTimeout'",
      code: "func use(_ options: inout ServerOptions) { options.keepAliveTimeout = .seconds(5) }"
    ),
    NearMiss(
      name: "aChannelToAHostAndAPort",
      error: "is unavailable: call Channel.connect(host:port:), or Channel(target: \"host:port\")",
      code: "func use() throws -> Channel { try Channel(host: \"localhost\", port: 50051) }"
    ),
    NearMiss(
      name: "theTLSOfAChannelByTheServersName",
      error: "'tls' is unavailable: set security, such as .tls(ClientTLS(trustRoots: .file(path)))",
      code: "func use(_ options: inout ChannelOptions) { options.tls = nil }"
    ),
    NearMiss(
      name: "aPolicyOfAChannel",
      error: "'loadBalancingPolicy' is unavailable: a serviceConfig names it",
      code: "func use(_ options: inout ChannelOptions) { options.loadBalancingPolicy = \"round_robin\" }"
    ),
    NearMiss(
      name: "retriesOfAChannel",
      error: "'retryPolicy' is unavailable: a serviceConfig has the retries of its methods",
      code: "func use(_ options: inout ChannelOptions) { options.retryPolicy = nil }"
    ),
    NearMiss(
      name: "aCompressionOfAServer",
      error:
        "'compression' is unavailable: handlers compress their responses: call context.setCompression(_:)",
      code: "func use(_ options: inout ServerOptions) { options.compression = .gzip }"
    ),
    NearMiss(
      name: "aLimitOfResponsesOfAServer",
      error:
        "'maxResponseSize' is unavailable: clients limit responses: set ChannelOptions.responseSizeLimit",
      code: "func use(_ options: inout ServerOptions) { options.maxResponseSize = 1024 }"
    ),
    NearMiss(
      name: "interceptorsOfAServer",
      error: "'interceptors' is unavailable: each call has interceptors of its own, which factories make",
      code: "func use(_ options: inout ServerOptions) { options.interceptors = [KeyGuard()] }"
    ),
    NearMiss(
      name: "aStatusOfHealthByAnotherName",
      error: "'setStatus(_:for:)' has been renamed to 'set(_:for:)'",
      code: "func use(_ health: HealthService) { health.setStatus(.serving, for: \"echo.Echo\") }"
    ),
    NearMiss(
      name: "aTimeoutOfACallAlone",
      error: "extra argument 'timeout' in call",
      code: """
        func use(_ client: Echo_EchoClient) async throws {
          _ = try await client.get(Echo_EchoRequest(), timeout: .seconds(5))
        }
        """
    ),
  ]

  private static func factory(_ side: String, get: String?) -> String {
    let others = ["Expand", "Collect", "Update"].map {
      "func make\($0)Interceptors() -> [\(side)Interceptor<Request, Response>] { [] }"
    }
    let lines = (get.map { ["func \($0)"] } ?? []) + others
    return """
      struct Mine: Echo_Echo\(side)InterceptorFactoryProtocol {
        typealias Request = Echo_EchoRequest
        typealias Response = Echo_EchoResponse
        \(lines.joined(separator: "\n  "))
      }
      """
  }

  /// What the code uses without declaring it.
  private static let given = """
    import EchoService
    import Switchboard

    final class Guard: ServerInterceptor<Echo_EchoRequest, Echo_EchoResponse> {}
    final class Stamp: ClientInterceptor<Echo_EchoRequest, Echo_EchoResponse> {}
    struct KeyGuard: ServerGuard {
      func check(_ headers: HPACKHeaders, of call: ServerCallContext) throws {}
    }
    protocol Service: Echo_EchoProvider {}
    extension Service {
      func get(request: Echo_EchoRequest, context: ServerCallContext) async throws -> Echo_EchoResponse { .init() }
      func expand(
        request: Echo_EchoRequest,
        responseStream: ResponseStreamWriter<Echo_EchoResponse>,
        context: ServerCallContext
      ) async throws {}
      func collect(
        requestStream: RequestStream<Echo_EchoRequest>,
        context: ServerCallContext
      ) async throws -> Echo_EchoResponse { .init() }
      func update(
        requestStream: RequestStream<Echo_EchoRequest>,
        responseStream: ResponseStreamWriter<Echo_EchoResponse>,
        context: ServerCallContext
      ) async throws {}
    }
    """

  // MARK: The compiler

  /// The errors and warnings of each file, by its name; all are files of one module, which is checked once.
  private func errors(of files: [NearMiss]) throws -> [String: [String]] {
    let scratch = FileManager.default.temporaryDirectory.appending(path: "near-misses-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: scratch, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: scratch) }
    var paths: [String] = []
    for file in [NearMiss(name: "given", error: "", code: Self.given)] + files {
      let path = scratch.appending(path: "\(file.name).swift")
      // In an enum, so that the files may declare the same names.
      let isGiven = file.name == "given"
      let code =
        isGiven
        ? file.code
        : "import Dispatch\nimport EchoService\nimport Switchboard\nimport SwitchboardServices\nenum Of_\(file.name) {\n\(file.code)\n}"
      let indented = code.replacing("\nlet ", with: "\nstatic let ").replacing(
        "\nfunc ",
        with: "\nstatic func "
      )
      try Data((isGiven ? code : indented).utf8).write(to: path)
      paths.append(path.path)
    }
    let compiler = try Command.run("swiftc", Self.checking + modules + moduleMaps() + paths)
    var messages: [String: [String]] = [:]
    for line in compiler.errors.split(separator: "\n") {
      let kind = line.range(of: ": error: ") ?? line.range(of: ": warning: ")
      guard let error = kind, let name = line[..<error.lowerBound].range(of: ".swift:")
      else { continue }
      let file = line[..<name.lowerBound].split(separator: "/").last.map(String.init) ?? ""
      messages[file, default: []].append(String(line[error.upperBound...]))
    }
    return messages
  }

  private static let checking = [
    "-typecheck", "-wmo", "-swift-version", "6", "-parse-as-library", "-module-name", "NearMisses",
  ]

  /// Where the compiler finds the modules that this test has been built with.
  private var modules: [String] { ["-I", Command.path(ofProduct: "Modules")] }

  /// Where it finds those of C that they import.
  private func moduleMaps() -> [String] {
    let products = URL(filePath: Command.path(ofProduct: "Modules")).deletingLastPathComponent()
    let sources = URL(filePath: #filePath).appending(path: "../../../../Sources/C").standardized
    let folders = (try? FileManager.default.contentsOfDirectory(atPath: sources.path)) ?? []
    let maps =
      folders.sorted().map { sources.appending(path: "\($0)/module.modulemap") }
      + ["CLoopThread", "CTLSMemory"].map { products.appending(path: "\($0).build/module.modulemap") }
    return maps.filter { FileManager.default.fileExists(atPath: $0.path) }
      .flatMap { ["-Xcc", "-fmodule-map-file=\($0.path)"] }
  }
}
