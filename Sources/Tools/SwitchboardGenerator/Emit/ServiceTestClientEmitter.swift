/// Writes the client of a service for tests, which can enqueue responses.
struct ServiceTestClientEmitter {
  let context: FileContext
  let service: ServiceSchema
  let methods: [MethodCode]

  private var visibility: String { context.visibility }
  private var constants: String { ServiceMetadataEmitter.methodsType(of: service, methods) }
  private var client: ServiceClientEmitter {
    ServiceClientEmitter(context: context, service: service, methods: methods)
  }

  /// Writes the struct.
  func emit(to printer: inout Printer) {
    let name = "\(service.swiftName)TestClient"
    let bases = "\(MethodCode.library("ServiceClient")), \(service.swiftName)ClientProtocol"
    printer.blank()
    printer.line("// MARK: - Client of \(service.fullName) for tests")
    printer.blank()
    printer.line(
      "/// A client of `\(service.fullName)` for tests: its calls receive the responses that the test enqueued."
    )
    printer.block("\(visibility)struct \(name): \(bases)") { printer in
      printer.line("/// The enqueued responses.")
      printer.line("\(visibility)let fakeResponses: \(MethodCode.testing("FakeResponses"))")
      client.emitStored(to: &printer)
      emitInitializer(to: &printer)
      for method in methods {
        emitQueue(of: method, to: &printer)
        ClientMethodCode(method: method).emit(visibility: visibility, constants: constants, to: &printer)
      }
    }
  }

  private func emitInitializer(to printer: inout Printer) {
    let options = MethodCode.library("CallOptions")
    printer.line(
      "/// A client without responses; `interceptors` makes the interceptors of each call."
    )
    printer.line("\(visibility)init(")
    printer.indented { printer in
      printer.line("defaultCallOptions: \(options) = \(options)(),")
      printer.line("interceptors: sending (any \(client.factory.name))? = nil")
    }
    printer.block(") throws(\(MethodCode.library("GRPCStatus")))") { printer in
      printer.line("typealias Methods = \(constants)")
      let metadata = "\(service.swiftName)Metadata.service"
      printer.line("self.fakeResponses = \(MethodCode.testing("FakeResponses"))(\(metadata))")
      printer.line("self.channel = try self.fakeResponses.channel([")
      printer.indented { printer in
        for method in methods {
          printer.line("self.fakeResponses.handler(Methods.\(method.swiftName)),")
        }
      }
      printer.line("])")
      printer.line("self.defaultCallOptions = defaultCallOptions")
      printer.line("self.interceptors = \(MethodCode.library("ClientInterceptors"))(interceptors)")
    }
  }

  // MARK: Responses

  private func emitQueue(of method: MethodCode, to printer: inout Printer) {
    let streams = method.kind.streamsResponses
    let constant = "\(constants).\(method.swiftName)"
    let handler =
      "_ requestHandler: @escaping @Sendable (\(MethodCode.testing("FakeRequestPart"))<\(method.request)>) -> Swift.Void"
    let fake = MethodCode.testing(streams ? "FakeStreamingResponse" : "FakeUnaryResponse")

    printer.blank()
    printer.line("/// Enqueues a response to `\(method.name)` for the test to send.")
    printer.line("\(visibility)func \(method.makeResponse)(")
    printer.indented { $0.line("\(handler) = { _ in }") }
    printer.block(") -> \(fake)<\(method.request), \(method.response)>") { printer in
      printer.line("fakeResponses.\(streams ? "makeStream" : "make")(\(constant), requestHandler)")
    }

    printer.blank()
    printer.line("/// Enqueues \(streams ? "a stream of responses" : "a response") to `\(method.name)`.")
    printer.line("\(visibility)func \(method.enqueueResponse)(")
    printer.indented { printer in
      printer.line(streams ? "_ responses: [\(method.response)]," : "_ response: \(method.response),")
      printer.line("\(handler) = { _ in }")
    }
    printer.block(")") { printer in
      let responses = streams ? "responses" : "[response]"
      printer.line("fakeResponses.enqueue(\(constant), \(responses), requestHandler)")
    }

    printer.blank()
    printer.line(
      "/// Enqueues an error in place of \(streams ? "the responses" : "a response") to `\(method.name)`."
    )
    printer.line("\(visibility)func \(method.enqueueError)(")
    printer.indented { printer in
      let metadata = MethodCode.library("HPACKHeaders")
      printer.line("_ error: any Swift.Error,")
      printer.line("trailingMetadata: \(metadata) = \(metadata)(),")
      printer.line("\(handler) = { _ in }")
    }
    printer.block(")") { printer in
      let arguments = "error: error, trailingMetadata: trailingMetadata, requestHandler"
      printer.line("fakeResponses.enqueue(\(constant), \(arguments))")
    }

    printer.blank()
    printer.line("/// Whether there are responses to `\(method.name)` that no call has received yet.")
    printer.line(
      "\(visibility)var \(method.hasResponses): Swift.Bool { fakeResponses.remain(for: \(constant)) }"
    )
  }
}
