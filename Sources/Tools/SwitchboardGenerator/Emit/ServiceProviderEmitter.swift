/// Writes the protocol for implementations of a service, and its interceptor factory.
struct ServiceProviderEmitter {
  let context: FileContext
  let service: ServiceSchema
  let methods: [MethodCode]

  private var visibility: String { context.visibility }
  private var name: String { "\(service.swiftName)Provider" }
  private var factory: InterceptorFactoryEmitter {
    InterceptorFactoryEmitter(context: context, service: service, methods: methods, side: .server)
  }

  /// Writes all declarations.
  func emit(to printer: inout Printer) {
    printer.blank()
    printer.line("// MARK: - Server of \(service.fullName)")
    factory.emit(to: &printer)
    emitProtocol(to: &printer)
    emitExtension(to: &printer)
  }

  private func emitProtocol(to printer: inout Printer) {
    printer.blank()
    context.comments.emit(for: service.path, isDeprecated: service.isDeprecated, to: &printer)
    printer.block("\(visibility)protocol \(name): \(MethodCode.library("CallHandlerProvider"))") { printer in
      let alias = MethodCode.unused("Interceptors", by: methods)
      printer.line("typealias \(alias) = any \(factory.name)")
      printer.blank()
      printer.line("/// Makes the interceptors of each call; `nil` if there are none.")
      printer.line("var interceptors: \(alias)? { get }")
      for method in methods {
        printer.blank()
        let schema = method.schema
        context.comments.emit(for: schema.path, isDeprecated: schema.isDeprecated, to: &printer)
        emitRequirement(method, to: &printer)
      }
    }
  }

  private func emitRequirement(_ method: MethodCode, to printer: inout Printer) {
    let kind = method.kind
    let stream = "\(MethodCode.library("RequestStream"))<\(method.request)>"
    let writer = "\(MethodCode.library("ResponseStreamWriter"))<\(method.response)>"
    printer.line("func \(method.declaredName)(")
    printer.indented { printer in
      printer.line(kind.streamsRequests ? "requestStream: \(stream)," : "request: \(method.request),")
      if kind.streamsResponses { printer.line("responseStream: \(writer),") }
      printer.line("context: \(MethodCode.library("ServerCallContext"))")
    }
    printer.line(") async throws" + (kind.streamsResponses ? "" : " -> \(method.response)"))
  }

  private func emitExtension(to printer: inout Printer) {
    printer.blank()
    printer.block("extension \(name)") { printer in
      printer.line("\(visibility)var serviceName: String { \(service.swiftName)Metadata.service.name }")
      if context.options.generatesReflectionData {
        printer.blank()
        printer.line(
          "\(visibility)var reflectionData: [String] { \(service.swiftName)Metadata.reflectionData }"
        )
      }
      printer.blank()
      let type = "[\(MethodCode.library("MethodHandler"))]"
      guard !methods.isEmpty else { return printer.line("\(visibility)var methodHandlers: \(type) { [] }") }
      printer.block("\(visibility)var methodHandlers: \(type)") { printer in
        printer.line("typealias Methods = \(ServiceMetadataEmitter.methodsType(of: service, methods))")
        printer.line("return [")
        printer.indented { printer in
          for method in methods { emitHandler(method, to: &printer) }
        }
        printer.line("]")
      }
    }
  }

  private func emitHandler(_ method: MethodCode, to printer: inout Printer) {
    let requests = method.kind.streamsRequests ? "requestStream" : "request"
    let responses = method.kind.streamsResponses ? "responseStream: $1, context: $2" : "context: $1"
    printer.line("Methods.\(method.swiftName).\(method.kind.rawValue)Handler(")
    printer.indented {
      $0.line(
        "interceptors: interceptors.map { factory in { @Sendable in factory.\(method.makeInterceptors)() } }"
      )
    }
    printer.line(") {")
    printer.indented { $0.line("try await self.\(method.swiftName)(\(requests): $0, \(responses))") }
    printer.line("},")
  }
}
