/// Writes what is known of a service before any call: its descriptor and its methods.
struct ServiceMetadataEmitter {
  let context: FileContext
  let service: ServiceSchema
  let methods: [MethodCode]
  /// The value of what reflection needs, line by line; empty where it is not asked for.
  let reflection: [String]

  private var visibility: String { context.visibility }

  /// The type that holds the methods' constants.
  static func methodsType(of service: ServiceSchema, _ methods: [MethodCode]) -> String {
    "\(service.swiftName)Metadata.\(nestedType(methods))"
  }

  private static func nestedType(_ methods: [MethodCode]) -> String {
    MethodCode.unused("Methods", by: methods)
  }

  /// Writes the enum.
  func emit(to printer: inout Printer) {
    printer.blank()
    printer.line("/// What is known of `\(service.fullName)` before any call.")
    printer.block("\(visibility)enum \(service.swiftName)Metadata") { printer in
      emitDescriptor(to: &printer)
      emitReflectionData(to: &printer)
      printer.blank()
      printer.line("/// The methods, each with its path, its kind and its messages.")
      printer.block("\(visibility)enum \(ServiceMetadataEmitter.nestedType(methods))") { printer in
        for method in methods { emit(method, to: &printer) }
      }
    }
  }

  private func emitDescriptor(to printer: inout Printer) {
    let type = MethodCode.library("ServiceDescriptor")
    printer.line("/// The service with its methods, in the order of the `.proto` file.")
    guard !methods.isEmpty else {
      return printer.line("\(visibility)static let service = \(type)(\"\(service.fullName)\", [])")
    }
    printer.line("\(visibility)static let service = \(type)(")
    printer.indented { printer in
      printer.line("\"\(service.fullName)\",")
      printer.line("[")
      printer.indented { printer in
        let nested = ServiceMetadataEmitter.nestedType(methods)
        for method in methods { printer.line("\(nested).\(method.swiftName).descriptor,") }
      }
      printer.line("]")
    }
    printer.line(")")
  }

  private func emit(_ method: MethodCode, to printer: inout Printer) {
    if let marshallers = method.marshallers { return emit(method, marshallers, to: &printer) }
    let type = "\(MethodCode.library("ProtobufMethod"))<\(method.request), \(method.response)>"
    printer.line("\(visibility)static let \(method.declaredName) = \(type)(")
    printer.indented { printer in
      printer.line("\"\(service.fullName)\", \"\(method.name)\", .\(method.kind.rawValue)")
    }
    printer.line(")")
  }

  private func emit(
    _ method: MethodCode,
    _ marshallers: (request: String, response: String),
    to printer: inout Printer
  ) {
    let descriptor = MethodCode.library("MethodDescriptor")
    let names = "service: \"\(service.fullName)\", method: \"\(method.name)\""
    printer.line("\(visibility)static let \(method.declaredName) = \(MethodCode.library("Method"))(")
    printer.indented { printer in
      printer.line("\(descriptor)(\(names), type: .\(method.kind.rawValue)),")
      printer.line("requests: \(marshallers.request),")
      printer.line("responses: \(marshallers.response)")
    }
    printer.line(")")
  }

  private func emitReflectionData(to printer: inout Printer) {
    guard let first = reflection.first else { return }
    printer.blank()
    printer.line(
      "/// The serialized `FileDescriptorProto` of the file and of all that it imports, each in base64;"
    )
    printer.line("/// what is imported comes first.")
    printer.line("\(visibility)static let reflectionData: [String] = \(first)")
    for line in reflection.dropFirst() { printer.line(line) }
  }
}
