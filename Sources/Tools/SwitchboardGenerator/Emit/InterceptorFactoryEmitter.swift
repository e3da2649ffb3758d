/// Writes the protocol of a factory for the interceptors of one side, and a value that conforms to it.
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
  private var visibility: String { context.visibility }

  /// Writes the protocol and the value.
  func emit(to printer: inout Printer) {
    printer.blank()
    printer.line("/// Makes the interceptors of each call to `\(service.fullName)`, \(side.order).")
    let head = "\(visibility)protocol \(name)\(side.inheritance)"
    guard !methods.isEmpty else { return printer.line("\(head) {}") }
    printer.block(head) { printer in
      for method in methods { printer.line(declaration(method)) }
    }
    emitValue(to: &printer)
  }

  private func declaration(_ method: MethodCode) -> String {
    "func \(method.makeInterceptors)() -> \(array(of: method))"
  }

  private func array(of method: MethodCode) -> String {
    "[\(MethodCode.library("\(side.rawValue)Interceptor"))<\(method.request), \(method.response)>]"
  }

  // MARK: The value
  // Its properties begin with an underscore, so that none has the name of one of its methods.

  private func emitValue(to printer: inout Printer) {
    let factory = MethodCode.library("\(side.rawValue)InterceptorFactory")
    printer.blank()
    printer.line("/// The interceptors of some methods of `\(service.fullName)`, or of all.")
    let type = "\(visibility)struct \(service.swiftName)\(side.rawValue)Interceptors"
    printer.block("\(type): \(name), Swift.Sendable") { printer in
      printer.line("private let all: [any \(factory)]")
      for method in methods {
        printer.line("private let _\(method.swiftName): @Sendable () -> \(array(of: method))")
      }
      emitInitializer(of: factory, to: &printer)
      emitEmptyInitializer(to: &printer)
      for method in methods {
        printer.blank()
        printer.block("\(visibility)\(declaration(method))") { printer in
          let constant = "\(ServiceMetadataEmitter.methodsType(of: service, methods)).\(method.swiftName)"
          printer.line("all.make\(side.rawValue)Interceptors(")
          printer.indented { $0.line("for: \(constant).descriptor, before: _\(method.swiftName)()") }
          printer.line(")")
        }
      }
    }
  }

  private func emitInitializer(of factory: String, to printer: inout Printer) {
    let (all, unlabelled) = (unused("all"), unused("unlabelled"))
    printer.blank()
    printer.line(
      "/// The interceptors that `\(all)` make for every method come before those of the method's closure, which is"
    )
    printer.line(
      "/// called once per call. No closure compiles as `\(unlabelled)`: it keeps one without a label from being taken"
    )
    printer.line("/// for the first method's.")
    printer.line("\(visibility)init(")
    printer.indented { printer in
      printer.line("_ \(all): any \(factory)...,")
      printer.line("\(unlabelled): ((Swift.Never) -> Swift.Void)? = nil,")
      for (position, method) in methods.enumerated() {
        let end = position == methods.count - 1 ? "" : ","
        printer.line("\(method.declaredName): @escaping @Sendable () -> \(array(of: method)) = { [] }\(end)")
      }
    }
    printer.block(")") { printer in
      printer.line("self.all = \(all)")
      for method in methods {
        printer.line("self._\(method.swiftName) = \(ReservedWords.valueName(method.swiftName))")
      }
    }
  }

  // The compiler prefers what is available to what is not, so that an unavailable initializer would not keep the other one,
  // whose arguments all have defaults, from being called without any. It prefers one without parameters, though; that it
  // throws is the compiler's error, and that it is deprecated says why.
  private func emitEmptyInitializer(to printer: inout Printer) {
    let message =
      "it makes no interceptors: name a method, as \(methods[0].swiftName), or pass a factory for all of them"
    printer.blank()
    printer.line("/// Always throws: interceptors of no method are a mistake, and none are `nil`.")
    printer.line("@available(*, deprecated, message: \"\(message)\")")
    printer.block("\(visibility)init() throws") { printer in
      printer.line(
        "throw \(MethodCode.library("GRPCStatus"))(code: .invalidArgument, message: \"\(message)\")"
      )
    }
  }

  /// `name`, or a variant of it that is not the name of a method.
  private func unused(_ name: String) -> String {
    let taken = Set(methods.map(\.swiftName))
    var name = name
    while taken.contains(name) { name += "_" }
    return name
  }
}
