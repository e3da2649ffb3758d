import Switchboard
import SwitchboardProtobuf
import SwitchboardText

// Makes the request message of a call from the parts of an HTTP request.
extension RESTFormat {
  /// A message whose table has the fields of the route's request. The body is applied first, then the query, then the path;
  /// later values replace earlier ones.
  func message(_ parts: RequestParts, in table: MessageTable) throws(GRPCStatus) -> DynamicMessage {
    var message: DynamicMessage
    switch route.requestBody {
    case .none:
      try checkForNoBody(parts)
      message = DynamicMessage(table)
    case .json(let field): message = try json(parts, into: field, of: table)
    case .raw(let field): message = try raw(parts, into: field, of: table)
    }
    if parts.number > 1 {
      try clearBound(&message)
    } else if !requestsAreBodies {
      try bind(parts, to: &message)
    }
    do throws(EncodeError) {
      try message.checkInitialized()
    } catch {
      throw .invalid("\(error)")
    }
    return message
  }

  // MARK: The body

  /// Refuses a body that would be lost. Some clients send an object without members for nothing.
  private func checkForNoBody(_ parts: RequestParts) throws(GRPCStatus) {
    let content = Array(RequestParts.content(of: parts.body).prefix(RequestParts.nothing.count + 1))
    guard !content.isEmpty, content != RequestParts.nothing else { return }
    throw .invalid(
      "the body: the rule of \(route.method) takes none: its fields are in the path and in the query, or in the body if the "
        + "rule has body: \"*\""
    )
  }

  private func json(_ parts: RequestParts, into field: TableField?, of table: MessageTable) throws(GRPCStatus)
    -> DynamicMessage
  {
    // A client may leave out the body of an empty message.
    let body = parts.body
    guard !body.isEmpty else { return DynamicMessage(table) }
    do throws(DecodeError) {
      guard let field else {
        return try DynamicMessage(table, jsonUTF8Bytes: body, partial: true, options: decoding)
      }
      var message = DynamicMessage(table)
      try message.mergeField(field, jsonUTF8Bytes: body, options: decoding)
      return message
    } catch {
      // Lines and columns are counted in the message.
      throw .invalid("\(parts.number > 0 ? "message \(parts.number) of the body" : "the body"): \(error)")
    }
  }

  private func raw(_ parts: RequestParts, into field: TableField?, of table: MessageTable) throws(GRPCStatus)
    -> DynamicMessage
  {
    var message = DynamicMessage(table)
    do throws(DynamicFieldError) {
      if let field {
        try message.modify(field.name) { part throws(DynamicFieldError) in try part.setBody(parts) }
      } else {
        try message.setBody(parts)
      }
    } catch {
      throw .invalid("\(error)")
    }
    return message
  }

  // MARK: The path and the query

  private func bind(_ parts: RequestParts, to message: inout DynamicMessage) throws(GRPCStatus) {
    for (name, value) in IteratorSequence(QueryText(parts.query)) {
      let name = String(decoding: name, as: UTF8.self)
      let names = name.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        .map { String(Substring($0)) }
      guard let field = FieldPath(names, in: route.request), !isBound(field) else {
        if decoding.ignoreUnknownFields { continue }
        throw .invalid("the query: \(shown(name)) is not a parameter\(reason(against: names))")
      }
      guard let value else {
        throw .invalid("the query: \(field.name) has no value: it is written \(field.name)=VALUE")
      }
      do throws(DecodeError) {
        try message.set(field, to: value)
      } catch {
        let hint = value.contains(0x20) ? "; a + in a query is a space, and %2B a plus" : ""
        throw .invalid("the query: \(field.name): \(error.reason)\(hint)")
      }
    }
    try parts.forEachText(of: route) { variable, text throws(GRPCStatus) in
      do throws(DecodeError) {
        try message.set(variable.field, to: PercentEncoding.decode(text, variable.decoding))
      } catch {
        throw .invalid("the path: \(variable.field.name): \(error.reason)")
      }
    }
  }

  /// Clears the fields that the path binds, whatever the JSON of a message after the first says: proxies see only the path.
  private func clearBound(_ message: inout DynamicMessage) throws(GRPCStatus) {
    do throws(DynamicFieldError) {
      for variable in route.variables { try message.clear(variable.field) }
    } catch {
      throw .invalid("\(error)")
    }
  }

  /// Whether the path or the body sets the field, so that the query must not.
  private func isBound(_ path: FieldPath) -> Bool {
    switch route.requestBody {
    case .json(nil), .raw(nil): return true
    case .json(let field?), .raw(let field?): if path.fields[0] == field { return true }
    case .none: break
    }
    return isInPath(path)
  }

  private func isInPath(_ path: FieldPath) -> Bool {
    route.variables.contains { $0.field.fields == path.fields }
  }

  /// Why the query does not set what these names lead to.
  private func reason(against names: [String]) -> String {
    switch route.requestBody {
    case .json(nil), .raw(nil): return ": the body is the whole request, as its rule has body: \"*\""
    case .json, .raw, .none: break
    }
    if let field = FieldPath(names, in: route.request) {
      return ": the \(isInPath(field) ? "path" : "body") sets it"
    }
    // Of many names, the first few say it.
    for count in 1..<max(1, min(names.count, 10)) {
      guard let whole = FieldPath(Array(names[..<count]), in: route.request) else { continue }
      return ": \(whole.name) has no parts, but one value: \(whole.name)=VALUE"
    }
    return " of the method"
  }

  private func shown(_ name: String) -> String { name.utf8.count > 100 ? "a long name" : "\"\(name)\"" }
}

extension DynamicMessage {
  /// Sets the fields of an `HttpBody`.
  fileprivate mutating func setBody(_ parts: RequestParts) throws(DynamicFieldError) {
    if !parts.mediaType.isEmpty {
      try set("content_type", to: .string(String(decoding: parts.mediaType, as: UTF8.self)))
    }
    try set("data", to: .bytes(parts.body))
  }
}

extension GRPCStatus {
  static func invalid(_ message: String) -> GRPCStatus {
    GRPCStatus(code: .invalidArgument, message: message, origin: .peer)
  }
}
