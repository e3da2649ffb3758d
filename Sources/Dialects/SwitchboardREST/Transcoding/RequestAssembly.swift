import Switchboard
import SwitchboardProtobuf
import SwitchboardText

/// Makes the request message of a call from the parts of an HTTP request.
final class RequestAssembly: Sendable {
  let route: RESTRoute
  let path: RequestPath
  let query: [UInt8]
  /// The media type of the body, if the message has it.
  let contentType: String?
  let options: JSONDecodingOptions

  init(
    route: RESTRoute,
    path: RequestPath,
    query: [UInt8],
    contentType: String? = nil,
    options: JSONDecodingOptions
  ) {
    self.route = route
    self.path = path
    self.query = query
    self.contentType = contentType
    self.options = options
  }

  /// The message in binary. The body is applied first, then the query, then the path; later values replace earlier
  /// ones.
  func message(body: [UInt8], contentType: String?, number: Int? = nil) throws(GRPCStatus) -> [UInt8] {
    var message: DynamicMessage
    switch route.requestBody {
    case .none:
      message = DynamicMessage(route.request)
      guard body.isEmpty else { throw .invalid("the method takes no body") }
    case .json(let field): message = try json(body, into: field, number)
    case .raw(let field): message = try raw(body, contentType, into: field)
    }
    try bind(&message)
    return try binary(message)
  }

  /// A message of a stream, by its number from 1. Only the first has the values from the path and the query. In the
  /// others, the fields that the path binds are cleared, whatever their JSON says, because proxies see only the path.
  func piece(_ body: [UInt8], contentType: String?, number: Int) throws(GRPCStatus) -> [UInt8] {
    if number == 1 { return try message(body: body, contentType: contentType, number: number) }
    switch route.requestBody {
    case .raw(let field): return try binary(try raw(body, nil, into: field))
    case .json(let field):
      var message = try json(body, into: field, number)
      do throws(DynamicFieldError) {
        for variable in route.variables { try message.clear(variable.field) }
      } catch {
        throw .invalid("\(error)")
      }
      return try binary(message)
    case .none: throw .invalid("the method takes no body")
    }
  }

  private func binary(_ message: DynamicMessage) throws(GRPCStatus) -> [UInt8] {
    do throws(EncodeError) {
      return try message.serializedBytes()
    } catch {
      throw .invalid("\(error)")
    }
  }

  // MARK: The body

  private func json(_ body: [UInt8], into field: TableField?, _ number: Int?) throws(GRPCStatus)
    -> DynamicMessage
  {
    var message = DynamicMessage(route.request)
    // A client may leave out the body of an empty message.
    guard !body.isEmpty else { return message }
    do throws(DecodeError) {
      if let field {
        try message.mergeField(field, jsonUTF8Bytes: body, options: options)
      } else {
        message = try DynamicMessage(route.request, jsonUTF8Bytes: body, partial: true, options: options)
      }
    } catch {
      // Lines and columns are counted in the message.
      throw .invalid("\(number.map { "message \($0) of the body" } ?? "the body"): \(error)")
    }
    return message
  }

  private func raw(_ body: [UInt8], _ contentType: String?, into field: TableField?) throws(GRPCStatus)
    -> DynamicMessage
  {
    var message = DynamicMessage(route.request)
    do throws(DynamicFieldError) {
      if let field {
        try message.modify(field.name) { part throws(DynamicFieldError) in try part.setBody(body, contentType)
        }
      } else {
        try message.setBody(body, contentType)
      }
    } catch {
      throw .invalid("\(error)")
    }
    return message
  }

  // MARK: The path and the query

  private func bind(_ message: inout DynamicMessage) throws(GRPCStatus) {
    for (name, value) in IteratorSequence(QueryText(query)) {
      let name = String(decoding: name, as: UTF8.self)
      let names = name.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        .map { String(Substring($0)) }
      guard let field = FieldPath(names, in: route.request), !isBound(field) else {
        if options.ignoreUnknownFields { continue }
        throw .invalid("the query: \(shown(name)) is not a parameter of the method")
      }
      do throws(DecodeError) {
        try message.set(field, to: value)
      } catch {
        throw .invalid("the query: \(field.name): \(error.reason)")
      }
    }
    for variable in route.variables {
      let text = path.text(of: variable.segments, isOpen: variable.isOpen)
      do throws(DecodeError) {
        try message.set(variable.field, to: PercentEncoding.decode(text, variable.decoding))
      } catch {
        throw .invalid("the path: \(variable.field.name): \(error.reason)")
      }
    }
  }

  /// Whether the path or the body sets the field, so that the query must not.
  private func isBound(_ path: FieldPath) -> Bool {
    switch route.requestBody {
    case .json(nil), .raw(nil): return true
    case .json(let field?), .raw(let field?): if path.fields[0] == field { return true }
    case .none: break
    }
    return route.variables.contains { $0.field.fields == path.fields }
  }

  private func shown(_ name: String) -> String { name.utf8.count > 100 ? "a long name" : "\"\(name)\"" }
}

extension DynamicMessage {
  /// Sets the fields of an `HttpBody`.
  fileprivate mutating func setBody(_ data: [UInt8], _ contentType: String?) throws(DynamicFieldError) {
    if let contentType { try set("content_type", to: .string(contentType)) }
    try set("data", to: .bytes(data))
  }
}

extension GRPCStatus {
  static func invalid(_ message: String) -> GRPCStatus {
    GRPCStatus(code: .invalidArgument, message: message, origin: .peer)
  }
}
