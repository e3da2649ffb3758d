/// A service that is described in Swift, method by method: the counterpart of a provider generated from a `.proto`
/// file.
///
/// ```swift
/// let stock = ServiceHandlers(
///   Stock.service,
///   [Stock.find.unaryHandler { query, context in Item(name: query.name, count: 3) }]
/// )
/// let server = try Server(providers: [stock])
/// ```
public struct ServiceHandlers: CallHandlerProvider, CheckedProvider, ServiceObserver {
  /// The name and the methods of the service.
  private let service: ServiceDescriptor
  /// The handlers of the service's methods, in any order. Calls of other methods fail with `UNIMPLEMENTED`. No server
  /// starts with a handler of a method that the service does not have.
  public var methodHandlers: [MethodHandler]
  /// The formats that its methods accept in addition to their own.
  private let payloadFormats: [any PayloadFormat]

  /// Creates a service with these handlers, whose methods also accept `payloadFormats`.
  public init(
    _ service: ServiceDescriptor,
    _ methodHandlers: [MethodHandler],
    payloadFormats: [any PayloadFormat] = []
  ) {
    self.service = service
    self.methodHandlers = methodHandlers
    self.payloadFormats = payloadFormats
  }

  public var serviceName: String { service.name }

  package func check() throws(GRPCStatus) {
    for method in service.methods where method.service != service.name {
      let message = "the description of \(service.name) has a method of another service: \(method.path)"
      throw GRPCStatus(code: .invalidArgument, message: message)
    }
    for handler in methodHandlers {
      let path = handler.method.path
      guard !service.methods.contains(where: { $0.path == path }) else { continue }
      let message = "the description of \(service.name) lacks a method that has a handler: \(path)"
      throw GRPCStatus(code: .invalidArgument, message: message)
    }
  }

  package func serverWasMade(of services: [String], isInProcess: Bool, _ logger: Logger) {
    let missing = service.methods.map(\.path).filter { path in
      !methodHandlers.contains { $0.method.path == path }
    }
    guard !missing.isEmpty else { return }
    logger.log(
      .warning,
      "methods of a service have no handlers: calls of them fail with UNIMPLEMENTED",
      ["methods": missing.joined(separator: ", ")]
    )
  }

  public func payloadFormats(for method: MethodDescriptor) -> [any PayloadFormat] { payloadFormats }
}
