import Switchboard
import SwitchboardDescriptors
import SwitchboardProtobuf
import SwitchboardServices
import SwitchboardText

/// A service that answers by rules, and with examples where no rule matches.
package struct MockService: CallHandlerProvider {
  /// The rules of a mock, and what it does without a match.
  package struct Settings: Sendable {
    package var rules = MockRules()
    /// Whether calls that match no rule get an example. Otherwise they fail.
    package var hasExamples = true
    /// Called for each call with the method's path and whether a rule matched.
    package var called: @Sendable (String, Bool) -> Void = { _, _ in }

    package init() {}
  }

  package let serviceName: String
  package let reflectionData: [String]
  private let methods: [MockMethod]
  private let types: TypeRegistry
  private let settings: Settings

  /// All services of a schema, and reflection for them.
  package static func providers(
    _ schema: MockSchema,
    _ settings: Settings
  ) throws -> [any CallHandlerProvider] {
    // One service carries the descriptors of all, so that each file is sent once.
    var data: [String] = try schema.files.map { file in
      String(decoding: Base64.encode(try file.serializedBytes()), as: UTF8.self)
    }
    let services = schema.services.map { name, methods in
      defer { data = [] }
      return MockService(
        serviceName: name,
        reflectionData: data,
        methods: methods,
        types: schema.types,
        settings: settings
      )
    }
    return services + [try ReflectionService(describing: services)]
  }

  package func payloadFormats(for method: MethodDescriptor) -> [any PayloadFormat] {
    methods.jsonFormat(of: method, types)
  }

  package var methodHandlers: [MethodHandler] {
    methods.map { method in
      let typed = Method(
        method.descriptor,
        requests: MockMarshaller(type: method.request),
        responses: MockMarshaller(type: method.response)
      )
      switch method.type {
      case .unary:
        return typed.unaryHandler { request, context in try await self.answer(method, request, context) }
      case .clientStreaming:
        return typed.clientStreamingHandler { requests, context in
          var first: DynamicMessage?
          for try await request in requests where first == nil { first = request }
          return try await self.answer(method, first, context)
        }
      case .serverStreaming:
        return typed.serverStreamingHandler { request, responses, context in
          try await self.stream(method, request, responses, context)
        }
      case .bidirectionalStreaming:
        return typed.bidirectionalStreamingHandler { requests, responses, context in
          var isFirst = true
          for try await request in requests {
            try await self.stream(method, request, responses, context, isFirst: isFirst)
            isFirst = false
          }
        }
      }
    }
  }

  private func answer(
    _ method: MockMethod,
    _ request: DynamicMessage?,
    _ context: ServerCallContext
  ) async throws -> DynamicMessage {
    let arrival = ContinuousClock.now
    guard let rule = try rule(for: request, of: method) else { return ExampleMessage.of(method.response) }
    try await begin(rule, arrival, context)
    if let status = rule.status { throw status }
    return rule.answers.first ?? DynamicMessage(method.response)
  }

  private func stream(
    _ method: MockMethod,
    _ request: DynamicMessage,
    _ responses: ResponseStreamWriter<DynamicMessage>,
    _ context: ServerCallContext,
    isFirst: Bool = true
  ) async throws {
    let arrival = ContinuousClock.now
    guard let rule = try rule(for: request, of: method) else {
      return try await responses.send(ExampleMessage.of(method.response))
    }
    try await begin(rule, arrival, context, isFirst: isFirst)
    for (index, answer) in rule.answers.enumerated() {
      if index > 0 { try await pause(rule.every, context) }
      try await responses.send(answer)
    }
    if let status = rule.status { throw status }
  }

  /// The delay counts from the request's arrival, because finding the rule among many takes time. Headers precede the answers
  /// to all requests of a call, so they are those of its first.
  private func begin(
    _ rule: MockRule,
    _ arrival: ContinuousClock.Instant,
    _ context: ServerCallContext,
    isFirst: Bool = true
  ) async throws {
    if isFirst, !rule.headers.isEmpty { context.setInitialMetadata(rule.headers) }
    if !rule.trailers.isEmpty { context.setTrailers(rule.trailers) }
    try await pause(rule.delay - (.now - arrival), context)
  }

  /// Sleeps with a timer of the loop. `Task.sleep` may overrun by a fraction of the time.
  private func pause(_ time: Duration, _ context: ServerCallContext) async throws {
    guard time > .zero else { return }
    if let loop = context.eventLoop as? any TimedEventLoop {
      try await loop.sleep(for: time, isPrecise: true)
    } else {
      try await Task.sleep(for: time)
    }
  }

  private func rule(for request: DynamicMessage?, of method: MockMethod) throws -> MockRule? {
    let rule = settings.rules.rule(for: request, of: method)
    settings.called(method.path, rule != nil)
    guard rule == nil, !settings.hasExamples else { return rule }
    throw GRPCStatus(code: .failedPrecondition, message: "no rule matches this request of \(method.path)")
  }
}
