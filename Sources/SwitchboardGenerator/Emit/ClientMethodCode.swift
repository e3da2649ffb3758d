/// Writes one method of a client.
struct ClientMethodCode {
  /// What the requests come from.
  enum Source: String {
    case message = ""
    case sequence = "Swift.Sequence"
    case asyncSequence = "_Concurrency.AsyncSequence"
  }

  let method: MethodCode

  /// The sources that there is an overload for, each.
  var sources: [Source] { method.kind.streamsRequests ? [.sequence, .asyncSequence] : [.message] }

  /// Writes the methods and the one that makes a call object.
  func emit(visibility: String, constants: String, to printer: inout Printer) {
    for source in sources {
      printer.blank()
      emitSignature(from: source, options: "? = nil", visibility: visibility, after: " {", to: &printer)
      let argument = source == .message ? "request" : "requests"
      let effects = method.kind.streamsResponses ? "" : "try await "
      emitBody(
        "\(effects)\(method.kind.rawValue)(\(constants).\(method.swiftName), \(argument), callOptions)",
        to: &printer
      )
    }
    emitCall(visibility: visibility, constants: constants, to: &printer)
    emitHandledCall(visibility: visibility, constants: constants, to: &printer)
  }

  /// Writes the method's head; `options` follows the type of the call's options, and `end` the whole.
  func emitSignature(
    from source: Source,
    options: String,
    visibility: String = "",
    after end: String,
    to printer: inout Printer
  ) {
    let isolation = method.kind.streamsResponses ? "" : "nonisolated(nonsending) "
    let generic = source == .message ? "" : "<\(method.sequence): \(source.rawValue) & Sendable>"
    printer.line("\(isolation)\(visibility)func \(method.declaredName)\(generic)(")
    printer.indented { printer in
      let argument = source == .message ? "request: \(method.request)" : "requests: \(method.sequence)"
      printer.line("_ \(argument), callOptions: \(MethodCode.library("CallOptions"))\(options)")
    }
    let stream = "\(MethodCode.library("ResponseStream"))<\(method.response)>"
    let result = method.kind.streamsResponses ? "-> \(stream)" : "async throws -> \(method.response)"
    let constraint = source == .message ? "" : " where \(method.sequence).Element == \(method.request)"
    printer.line(") \(result)\(constraint)\(end)")
  }

  private func emitCall(visibility: String, constants: String, to printer: inout Printer) {
    printer.blank()
    let streamsRequests = method.kind.streamsRequests
    let messages = streamsRequests ? "\(method.request), \(method.response)" : method.response
    let type = MethodCode.library("Async\(method.kind.rawValue.capitalized)Call")
    printer.line("\(visibility)func make\(method.name)Call(")
    printer.indented { printer in
      let request = streamsRequests ? "" : "_ request: \(method.request), "
      printer.line("\(request)callOptions: \(MethodCode.library("CallOptions"))? = nil")
    }
    printer.line(") -> \(type)<\(messages)> {")
    let request = streamsRequests ? "" : "request, "
    emitBody(
      "\(method.kind.rawValue)Call(\(constants).\(method.swiftName), \(request)callOptions)",
      to: &printer
    )
  }

  private func emitHandledCall(visibility: String, constants: String, to printer: inout Printer) {
    printer.blank()
    let streamsRequests = method.kind.streamsRequests
    let type = MethodCode.library(streamsRequests ? "StreamingCall" : "UnaryCall")
    printer.line("\(visibility)func make\(method.name)Call(")
    printer.indented { printer in
      if !streamsRequests { printer.line("_ request: \(method.request),") }
      printer.line("responseHandler: any \(MethodCode.library("ResponseHandler"))<\(method.response)>,")
      printer.line("callOptions: \(MethodCode.library("CallOptions"))? = nil")
    }
    printer.line(") -> \(type)<\(method.request), \(method.response)> {")
    let request = streamsRequests ? "" : "request, "
    emitBody(
      "handledCall(\(constants).\(method.swiftName), \(request)responseHandler, callOptions)",
      to: &printer
    )
  }

  private func emitBody(_ call: String, to printer: inout Printer) {
    let interceptors = "$0.\(method.makeInterceptors)()"
    printer.indented { printer in
      if call.utf8.count + interceptors.utf8.count < 100 {
        printer.line("\(call) { \(interceptors) }")
      } else {
        printer.block(call) { $0.line(interceptors) }
      }
    }
    printer.line("}")
  }
}
