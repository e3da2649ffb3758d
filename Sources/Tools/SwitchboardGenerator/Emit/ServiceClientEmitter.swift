/// Writes the client of a service, its protocol and its interceptor factory.
struct ServiceClientEmitter {
  let context: FileContext
  let service: ServiceSchema
  let methods: [MethodCode]

  private var visibility: String { context.visibility }
  var factory: InterceptorFactoryEmitter {
    InterceptorFactoryEmitter(context: context, service: service, methods: methods, side: .client)
  }

  /// Writes all declarations.
  func emit(to printer: inout Printer) {
    printer.blank()
    printer.line("// MARK: - Client of \(service.fullName)")
    factory.emit(to: &printer)
    emitProtocol(to: &printer)
    emitClient(to: &printer)
    guard !methods.isEmpty else { return }
    emitShortForms(to: &printer)
    emitCallbacks(to: &printer)
  }

  private func emitProtocol(to printer: inout Printer) {
    printer.blank()
    context.comments.emit(for: service.path, isDeprecated: service.isDeprecated, to: &printer)
    let head = "\(visibility)protocol \(service.swiftName)ClientProtocol: Sendable"
    guard !methods.isEmpty else { return printer.line("\(head) {}") }
    printer.block(head) { printer in
      printer.separated(methods) { printer, method in
        let code = ClientMethodCode(method: method)
        for source in code.sources {
          let schema = method.schema
          context.comments.emit(for: schema.path, isDeprecated: schema.isDeprecated, to: &printer)
          code.emitSignature(from: source, after: "", to: &printer)
        }
      }
    }
  }

  private func emitShortForms(to printer: inout Printer) {
    printer.blank()
    printer.line("/// The calls with the client's options.")
    printer.block("extension \(service.swiftName)ClientProtocol") { printer in
      printer.separated(methods) { printer, method in
        ClientMethodCode(method: method).emitShortForms(visibility: visibility, to: &printer)
      }
    }
  }

  private func emitCallbacks(to printer: inout Printer) {
    let constants = ServiceMetadataEmitter.methodsType(of: service, methods)
    printer.blank()
    printer.line("/// The calls with response handlers: `client.callbacks`.")
    let head =
      "extension \(MethodCode.library("ClientCallbacks")) where CallbackClient.InterceptorFactory == "
    printer.block("\(head)any \(factory.name)") { printer in
      printer.separated(methods) { printer, method in
        let code = ClientMethodCode(method: method)
        code.emitHandledCall(visibility: visibility, constants: constants, to: &printer)
      }
    }
  }

  private func emitClient(to printer: inout Printer) {
    let name = "\(service.swiftName)Client"
    let bases = "\(MethodCode.library("ServiceClient")), \(name)Protocol"
    printer.blank()
    printer.line("/// Calls `\(service.fullName)` on a channel.")
    printer.block("\(visibility)struct \(name): \(bases)") { printer in
      emitStored(to: &printer)
      emitInitializer(to: &printer)
      let constants = ServiceMetadataEmitter.methodsType(of: service, methods)
      for method in methods {
        ClientMethodCode(method: method).emit(visibility: visibility, constants: constants, to: &printer)
      }
    }
  }

  /// Writes the stored properties and the initializer that takes a channel.
  func emitStored(to printer: inout Printer) {
    let interceptors = "\(MethodCode.library("ClientInterceptors"))<any \(factory.name)>"
    printer.line("\(visibility)let channel: \(MethodCode.library("Channel"))")
    printer.line("/// The options of all calls; options passed to a call override them field by field.")
    printer.line("\(visibility)var defaultCallOptions: \(MethodCode.library("CallOptions"))")
    printer.line("\(visibility)let interceptors: \(interceptors)")
    printer.blank()
  }

  private func emitInitializer(to printer: inout Printer) {
    let options = MethodCode.library("CallOptions")
    printer.line("/// A client on `channel`; `interceptors` makes the interceptors of each call.")
    printer.line("\(visibility)init(")
    printer.indented { printer in
      printer.line("channel: \(MethodCode.library("Channel")),")
      printer.line("defaultCallOptions: \(options) = \(options)(),")
      printer.line("interceptors: sending (any \(factory.name))? = nil")
    }
    printer.block(")") { printer in
      printer.line("self.channel = channel")
      printer.line("self.defaultCallOptions = defaultCallOptions")
      printer.line("self.interceptors = \(MethodCode.library("ClientInterceptors"))(interceptors)")
    }
    emitHostInitializer(to: &printer)
  }

  private func emitHostInitializer(to printer: inout Printer) {
    let options = MethodCode.library("CallOptions")
    printer.blank()
    printer.line(
      "/// A client of the service at `host`. It uses the channel of `pool` that `options` identify; without a"
    )
    printer.line("/// pool, the one that the process shares.")
    printer.line("\(visibility)init(")
    printer.indented { printer in
      printer.line("host: Swift.String,")
      printer.line("options: \(options) = \(options)(),")
      printer.line("interceptors: sending (any \(factory.name))? = nil,")
      printer.line("pool: \(MethodCode.library("ChannelPool"))? = nil")
    }
    printer.block(")") { printer in
      printer.line("self.init(")
      printer.indented { printer in
        printer.line("channel: \(MethodCode.library("Channel"))(host: host, options: options, pool: pool),")
        printer.line("defaultCallOptions: options,")
        printer.line("interceptors: interceptors")
      }
      printer.line(")")
    }
  }
}
