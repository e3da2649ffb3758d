/// Writes one method of a client.
struct ClientMethodCode {
  /// The form of the requests.
  enum Source: String {
    case message = ""
    case sequence = "Swift.Sequence"
    case asyncSequence = "_Concurrency.AsyncSequence"
  }

  let method: MethodCode

  /// The forms of requests, each with its own overload.
  var sources: [Source] { method.kind.streamsRequests ? [.sequence, .asyncSequence] : [.message] }

  /// Writes the methods and those that make call objects.
  func emit(visibility: String, constants: String, to printer: inout Printer) {
    for source in sources {
      printer.blank()
      emitSignature(from: source, visibility: visibility, after: " {", to: &printer)
      let argument = source == .message ? "request" : "requests"
      let effects = method.kind.streamsResponses ? "" : "try await "
      emitBody(effects, constants, ".\(method.kind.rawValue)(\(argument))", to: &printer)
    }
    if method.kind != .unary { emitUse(visibility: visibility, to: &printer) }
    emitCall(visibility: visibility, constants: constants, to: &printer)
  }

  /// Writes the methods without options, for an extension of the protocol, whose requirements have no defaults.
  func emitShortForms(visibility: String, to printer: inout Printer) {
    let effects = method.kind.streamsResponses ? "" : "try await "
    printer.separated(sources) { printer, source in
      // Inlined, because it would otherwise be one more generic call for users in other modules.
      if visibility == "public " { printer.line("@inlinable") }
      emitSignature(from: source, hasOptions: false, visibility: visibility, after: " {", to: &printer)
      let argument = source == .message ? "request" : "requests"
      printer.indented { $0.line("\(effects)self.\(method.swiftName)(\(argument), callOptions: nil)") }
      printer.line("}")
    }
  }

  /// Writes the signature of the method, and then `end`.
  func emitSignature(
    from source: Source,
    hasOptions: Bool = true,
    visibility: String = "",
    after end: String,
    to printer: inout Printer
  ) {
    let isolation = method.kind.streamsResponses ? "" : "nonisolated(nonsending) "
    let generic = source == .message ? "" : "<\(method.sequence): \(source.rawValue) & Sendable>"
    printer.line("\(isolation)\(visibility)func \(method.declaredName)\(generic)(")
    printer.indented { printer in
      let argument = source == .message ? "request: \(method.request)" : "requests: \(method.sequence)"
      let options = hasOptions ? ", callOptions: \(MethodCode.library("CallOptions"))?" : ""
      printer.line("_ \(argument)\(options)")
    }
    let stream = "\(MethodCode.library("ResponseStream"))<\(method.response)>"
    let result = method.kind.streamsResponses ? "-> \(stream)" : "async throws -> \(method.response)"
    let constraint = source == .message ? "" : " where \(method.sequence).Element == \(method.request)"
    printer.line(") \(result)\(constraint)\(end)")
  }

  /// The type of the call object.
  private var callType: String {
    let messages = method.kind.streamsRequests ? "\(method.request), \(method.response)" : method.response
    return "\(MethodCode.library("Async\(method.kind.rawValue.capitalized)Call"))<\(messages)>"
  }

  /// Writes the method whose call ends with a closure.
  private func emitUse(visibility: String, to printer: inout Printer) {
    printer.blank()
    let result = method.kind.streamsResponses ? MethodCode.unused("Result", by: [method]) : "Swift.Void"
    let generic = method.kind.streamsResponses ? "<\(result)>" : ""
    printer.line("nonisolated(nonsending) \(visibility)func \(method.declaredName)\(generic)(")
    printer.indented { printer in
      let request = method.kind.streamsRequests ? "" : "_ request: \(method.request), "
      printer.line("\(request)callOptions: \(MethodCode.library("CallOptions"))? = nil,")
      printer.line("_ body: nonisolated(nonsending) (\(callType)) async throws -> \(result)")
    }
    printer.block(") async throws -> \(method.kind.streamsResponses ? result : method.response)") { printer in
      let request = method.kind.streamsRequests ? "" : "request, "
      printer.line("try await \(method.makeCall)(\(request)callOptions: callOptions).use(body)")
    }
  }

  private func emitCall(visibility: String, constants: String, to printer: inout Printer) {
    printer.blank()
    let streamsRequests = method.kind.streamsRequests
    printer.line("\(visibility)func \(method.makeCall)(")
    printer.indented { printer in
      let request = streamsRequests ? "" : "_ request: \(method.request), "
      printer.line("\(request)callOptions: \(MethodCode.library("CallOptions"))? = nil")
    }
    printer.line(") -> \(callType) {")
    let make = "make\(method.kind.rawValue.capitalized)Call"
    emitBody("", constants, ".\(make)(\(streamsRequests ? "" : "request"))", to: &printer)
  }

  /// Writes the method that makes a call with a response handler, for an extension of what the client's `callbacks` are.
  func emitHandledCall(visibility: String, constants: String, to printer: inout Printer) {
    let streamsRequests = method.kind.streamsRequests
    let type = MethodCode.library(streamsRequests ? "StreamingCall" : "UnaryCall")
    printer.line("\(visibility)func \(method.makeCall)(")
    printer.indented { printer in
      if !streamsRequests { printer.line("_ request: \(method.request),") }
      printer.line("responseHandler: any \(MethodCode.library("ResponseHandler"))<\(method.response)>,")
      printer.line("callOptions: \(MethodCode.library("CallOptions"))? = nil")
    }
    printer.line(") -> \(type)<\(method.request), \(method.response)> {")
    let form = streamsRequests ? "makeStreamingCall(" : "makeUnaryCall(request, "
    emitBody("client.", constants, ".\(form)responseHandler: responseHandler)", to: &printer)
  }

  /// Writes a body that makes the call, between `head` and `tail`.
  private func emitBody(_ head: String, _ constants: String, _ tail: String, to printer: inout Printer) {
    let call = "\(head)call(\(constants).\(method.swiftName), callOptions) {"
    let interceptors = "$0.\(method.makeInterceptors)()"
    printer.indented { printer in
      if call.utf8.count + interceptors.utf8.count + tail.utf8.count < 110 {
        return printer.line("\(call) \(interceptors) }\(tail)")
      }
      printer.line(call)
      printer.indented { $0.line(interceptors) }
      printer.line("}\(tail)")
    }
    printer.line("}")
  }
}
