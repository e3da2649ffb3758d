/// Writes the protocol of a factory for the interceptors of one side, and its default implementations.
struct InterceptorFactoryEmitter {
  enum Side: String {
    case client = "Client"
    case server = "Server"

    var order: String { self == .client ? "in outbound order" : "in inbound order" }
    // A client owns its factory and calls it under a lock; a server calls it from any thread.
    var inheritance: String { self == .client ? "" : ": Sendable" }
  }

  let context: FileContext
  let service: ServiceSchema
  let methods: [MethodCode]
  let side: Side

  /// The protocol's name.
  var name: String { "\(service.swiftName)\(side.rawValue)InterceptorFactoryProtocol" }

  /// Writes the protocol and the extension.
  func emit(to printer: inout Printer) {
    printer.blank()
    let order = "\(side.order); by default there are none"
    printer.line("/// Makes the interceptors of each call to `\(service.fullName)`, \(order).")
    let head = "\(context.visibility)protocol \(name)\(side.inheritance)"
    guard !methods.isEmpty else { return printer.line("\(head) {}") }
    printer.block(head) { printer in
      for method in methods { printer.line(declaration(method)) }
    }
    printer.blank()
    printer.block("extension \(name)") { printer in
      for method in methods { printer.line("\(context.visibility)\(declaration(method)) { [] }") }
    }
  }

  private func declaration(_ method: MethodCode) -> String {
    let type = MethodCode.library("\(side.rawValue)Interceptor")
    return "func \(method.makeInterceptors)() -> [\(type)<\(method.request), \(method.response)>]"
  }
}
