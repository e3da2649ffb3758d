import Switchboard
import SwitchboardDescriptors
import SwitchboardProtobuf
import SwitchboardServiceMessages
import SwitchboardText

/// Describes the services of a server and their messages to tools: `grpc.reflection.v1.ServerReflection`, and `v1alpha`
/// with the same messages for older tools.
///
/// It uses the descriptors in generated services (`ReflectionData=true`):
/// ```swift
/// let services: [any CallHandlerProvider] = [ShopProvider(), HealthService()]
/// let server = try Server(providers: services + [ReflectionService(describing: services)])
/// ```
/// A service generated without them is only listed by name.
///
/// Methods whose messages are not protobuf are marked, so that the command `switchboard` sends what they take (see
/// `Protos/switchboard/payload/v1/payload.proto`). Services without a `.proto` are described with messages that are but
/// names.
public struct ReflectionService: Grpc_Reflection_V1_ServerReflectionProvider {
  public var interceptors: Interceptors? { nil }

  private let index: DescriptorIndex
  private let described: [String]
  /// The services that have methods and no descriptors.
  private let bare: [String]

  /// Describes the services of `providers`, and itself.
  ///
  /// Throws if a descriptor is invalid, which generated ones never are.
  public init(describing providers: [any CallHandlerProvider]) throws(GRPCStatus) {
    described = providers.map(\.serviceName)
    var index = try DescriptorIndex(describing: providers)
    let data = Grpc_Reflection_V1_ServerReflectionMetadata.reflectionData
    try index.add(service: Grpc_Reflection_V1_ServerReflectionMetadata.service.name, data)
    try index.add(service: Self.alphaName, data, change: DescriptorIndex.alpha)
    bare = providers.filter { !$0.methodHandlers.isEmpty && index.file(declaring: $0.serviceName) == nil }
      .map(\.serviceName)
    self.index = index
  }

  /// The files that declare the services of providers, and their imports. Services without descriptors have none.
  package static func files(describing providers: [any CallHandlerProvider]) throws(GRPCStatus)
    -> [Google_Protobuf_FileDescriptorProto]
  {
    let files = try DescriptorIndex(describing: providers).files
    return files.sorted { $0.key.text.precedes($1.key.text) }.compactMap { _, file in
      try? Google_Protobuf_FileDescriptorProto(serializedBytes: file.bytes)
    }
  }

  private static let alphaName = "grpc.reflection.v1alpha.ServerReflection"

  /// The method under both names of the service.
  public var methodHandlers: [MethodHandler] {
    let method = Grpc_Reflection_V1_ServerReflectionMetadata.Methods.serverReflectionInfo
    let alpha = ProtobufMethod<
      Grpc_Reflection_V1_ServerReflectionRequest, Grpc_Reflection_V1_ServerReflectionResponse
    >(Self.alphaName, method.descriptor.method, .bidirectionalStreaming)
    return [method, alpha].map { method in
      method.bidirectionalStreamingHandler {
        try await self.serverReflectionInfo(requestStream: $0, responseStream: $1, context: $2)
      }
    }
  }

  public func serverReflectionInfo(
    requestStream: RequestStream<Grpc_Reflection_V1_ServerReflectionRequest>,
    responseStream: ResponseStreamWriter<Grpc_Reflection_V1_ServerReflectionResponse>,
    context: ServerCallContext
  ) async throws {
    // Tools may leave a stream open for as long as they run.
    try await context.untilShutdown { [index] in
      var answers = ReflectionAnswers(index: index)
      for try await request in requestStream { try await responseStream.send(answers.answer(request)) }
    }
  }
}

extension ReflectionService: ServiceObserver {
  package func serverWasMade(of services: [String], isInProcess: Bool, _ logger: Logger) {
    guard !described.isEmpty else {
      return logger.log(
        .warning,
        "the reflection describes nothing: ReflectionService(describing:) was given no providers",
        [:]
      )
    }
    if !bare.isEmpty {
      logger.log(
        .warning,
        "the reflection only lists services that have no descriptors: generate them with ReflectionData=true",
        ["services": bare.prefix(Self.mostShown).joined(separator: ", ")]
      )
    }
    let missing = described.filter { name in !services.contains { $0.utf8.elementsEqual(name.utf8) } }
    guard !missing.isEmpty else { return }
    logger.log(
      .warning,
      "the reflection describes services that the server does not have: give it the server's own providers",
      ["services": missing.prefix(Self.mostShown).joined(separator: ", ")]
    )
  }

  private static let mostShown = 10
}
