/// Writes the static description of a service: its descriptor and its methods.
struct ServiceMetadataEmitter {
  let context: FileContext
  let service: ServiceSchema
  let methods: [MethodCode]
  /// The lines of the data for reflection; empty if it is not requested.
  let reflection: [String]

  private var visibility: String { context.visibility }

  /// The type with the constants of the methods.
  static func methodsType(of service: ServiceSchema, _ methods: [MethodCode]) -> String {
    "\(service.swiftName)Metadata.\(nestedType(methods))"
  }

  private static func nestedType(_ methods: [MethodCode]) -> String {
    MethodCode.unused("Methods", by: methods)
  }

  /// Writes the enum.
  func emit(to printer: inout Printer) {
    printer.blank()
    printer.line("/// The static description of `\(service.fullName)`.")
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
      printer.line(
        "\"\(service.fullName)\", \"\(method.name)\", .\(method.kind.rawValue)\(method.idempotencyArgument)"
      )
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
      printer.line("\(descriptor)(\(names), type: .\(method.kind.rawValue)\(method.idempotencyArgument)),")
      printer.line("requests: \(marshallers.request),")
      printer.line("responses: \(marshallers.response)")
    }
    printer.line(")")
  }

  private func emitReflectionData(to printer: inout Printer) {
    guard let first = reflection.first else { return }
    printer.blank()
    printer.line(
      "/// The serialized `FileDescriptorProto` of the file and of all its imports, each in Base64;"
    )
    printer.line("/// imports come first.")
    printer.line("\(visibility)static let reflectionData: [String] = \(first)")
    for line in reflection.dropFirst() { printer.line(line) }
  }
}
