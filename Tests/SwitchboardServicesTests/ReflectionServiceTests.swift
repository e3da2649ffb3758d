import CallTestSupport
import EchoService
import ServerTestSupport
import Switchboard
import SwitchboardDescriptors
import SwitchboardProtobuf
import SwitchboardServices
import Testing

@Suite(.timeLimit(.minutes(5))) struct ReflectionServiceTests {
  typealias Request = Grpc_Reflection_V1_ServerReflectionRequest
  typealias Response = Grpc_Reflection_V1_ServerReflectionResponse

  /// The responses to several requests on one stream.
  private func answers(_ requests: [Request]) async throws -> [Response] {
    let services: [any CallHandlerProvider] = [SilentEcho(), HealthService(), Undescribed()]
    var responses: [Response] = []
    try await withChannel(to: services + [try ReflectionService(describing: services)]) {
      channel async throws in
      let client = Grpc_Reflection_V1_ServerReflectionClient(channel: channel)
      for try await response in client.serverReflectionInfo(requests) { responses.append(response) }
    }
    return responses
  }

  private func names(in response: Response) throws -> [String] {
    try response.fileDescriptorResponse.fileDescriptorProto.map {
      try Google_Protobuf_FileDescriptorProto(serializedBytes: $0).name
    }
  }

  /// Tools may leave a stream open for as long as they run.
  @Test func aStreamThatIsLeftOpenEndsWithTheServer() async throws {
    try await withPair([try ReflectionService(describing: [])]) { pair async throws in
      let call = Grpc_Reflection_V1_ServerReflectionClient(channel: pair.channel)
        .makeServerReflectionInfoCall()
      try await call.requestStream.send(.with { $0.listServices = "*" })
      var responses = call.responseStream.makeAsyncIterator()
      #expect(try await responses.next() != nil)
      // Calls in progress may take an hour.
      await pair.server.shutDown(grace: .seconds(3600))
      #expect(await status { _ = try await responses.next() }?.code == .unavailable)
    }
  }

  private final class Services: LogHandler {
    let all = Locked<[String?]>([])
    func log(_ level: LogLevel, _ message: String, _ metadata: [String: String]) {
      guard message.hasPrefix("the reflection") else { return }
      all.withLock { $0.append(metadata["services"]) }
    }
  }

  @Test func servicesOfAnotherServerAreReported() throws {
    let found = Services()
    var options = ServerOptions()
    options.logger = Logger(found)
    let reflection = try ReflectionService(describing: [SilentEcho(), Undescribed()])
    _ = try Server(providers: [SilentEcho(), Undescribed(), reflection], options: options)
    #expect(found.all.withLock { $0 } == [])
    _ = try Server(providers: [Undescribed(), reflection], options: options)
    #expect(found.all.withLock { $0 } == ["echo.Echo"])
    _ = try Server(providers: [Undescribed(), try ReflectionService(describing: [])], options: options)
    #expect(found.all.withLock { $0 } == ["echo.Echo", nil])
  }

  @Test func servicesWithoutDescriptorsAreReported() throws {
    let found = Services()
    var options = ServerOptions()
    options.logger = Logger(found)
    let services: [any CallHandlerProvider] = [SilentEcho(), Ungenerated()]
    _ = try Server(providers: services + [try ReflectionService(describing: services)], options: options)
    #expect(found.all.withLock { $0 } == ["bare.Ungenerated"])
  }

  @Test func listsAllServices() async throws {
    let request = Request.with {
      $0.host = "here"
      $0.listServices = "*"
    }
    let response = try #require(try await answers([request]).first)
    #expect(
      response.listServicesResponse.service.map(\.name) == [
        "bare.Undescribed", "echo.Echo", "grpc.health.v1.Health", "grpc.reflection.v1.ServerReflection",
        "grpc.reflection.v1alpha.ServerReflection",
      ]
    )
    #expect(response.validHost == "here")
    #expect(response.originalRequest == request)
  }

  @Test(
    arguments: [
      ("echo.Echo", "echo/echo.proto"), ("echo.Echo.Get", "echo/echo.proto"),
      (".echo.EchoRequest", "echo/echo.proto"), ("echo.EchoRequest.text", "echo/echo.proto"),
      ("grpc.health.v1.HealthCheckResponse.ServingStatus", "grpc/health/v1/health.proto"),
      ("grpc.health.v1.HealthCheckResponse.SERVICE_UNKNOWN", "grpc/health/v1/health.proto"),
      ("grpc.reflection.v1.ServerReflectionRequest.message_request", "grpc/reflection/v1/reflection.proto"),
      ("grpc.reflection.v1alpha.ServerReflection", "grpc/reflection/v1alpha/reflection.proto"),
    ]
  ) func findsTheFileOfASymbol(_ symbol: String, _ file: String) async throws {
    let response = try #require(try await answers([.with { $0.fileContainingSymbol = symbol }]).first)
    #expect(try names(in: response) == [file])
    let named = try #require(try await answers([.with { $0.fileByFilename = file }]).first)
    #expect(named.fileDescriptorResponse == response.fileDescriptorResponse)
  }

  @Test func reportsUnknownNames() async throws {
    let responses = try await answers([
      .with { $0.fileContainingSymbol = "echo.Ech" }, .with { $0.fileByFilename = "echo" },
      .with { $0.allExtensionNumbersOfType = "echo.Echo" },
      .with {
        $0.fileContainingExtension.containingType = "echo.EchoRequest"
        $0.fileContainingExtension.extensionNumber = 100
      },
      .with { $0.fileContainingSymbol = "bare.Undescribed" }, .with { $0.host = "here" },
      .with { $0.allExtensionNumbersOfType = "echo.EchoRequest" },
    ])
    #expect(responses.map(\.errorResponse.errorCode) == [5, 5, 5, 5, 5, 3, 0])
    #expect(responses.last?.allExtensionNumbersResponse == .with { $0.baseTypeName = "echo.EchoRequest" })
  }

  @Test func servesTheOlderNameToo() async throws {
    let services: [any CallHandlerProvider] = [SilentEcho()]
    try await withChannel(to: [try ReflectionService(describing: services)]) { channel async throws in
      let method = ProtobufMethod<Request, Response>(
        "grpc.reflection.v1alpha.ServerReflection",
        "ServerReflectionInfo",
        .bidirectionalStreaming
      )
      let client = Grpc_Reflection_V1_ServerReflectionClient(channel: channel)
      let request = Request.with { $0.fileContainingSymbol = "grpc.reflection.v1alpha.ServerReflection" }
      let responses = client.call(method, nil) { _ in [] }.bidirectionalStreaming([request])
      for try await response in responses {
        let bytes = try #require(response.fileDescriptorResponse.fileDescriptorProto.first)
        let file = try Google_Protobuf_FileDescriptorProto(serializedBytes: bytes)
        #expect(file.package == "grpc.reflection.v1alpha")
        #expect(
          file.service.first?.method.first?.inputType == ".grpc.reflection.v1alpha.ServerReflectionRequest"
        )
      }
    }
  }
}

/// A service with descriptors whose methods are not called.
private struct SilentEcho: CallHandlerProvider {
  var serviceName: String { Echo_EchoMetadata.service.name }
  var methodHandlers: [MethodHandler] { [] }
  var reflectionData: [String] { Echo_EchoMetadata.reflectionData }
}

/// A service whose messages are protobuf, generated without descriptors.
private struct Ungenerated: CallHandlerProvider {
  private static let get = ProtobufMethod<Echo_EchoRequest, Echo_EchoResponse>(
    "bare.Ungenerated",
    "Get",
    .unary
  )

  var serviceName: String { "bare.Ungenerated" }
  var methodHandlers: [MethodHandler] { [Self.get.unaryHandler { _, _ in Echo_EchoResponse() }] }
}

/// A service without methods.
private struct Undescribed: CallHandlerProvider {
  var serviceName: String { "bare.Undescribed" }
  var methodHandlers: [MethodHandler] { [] }
}
