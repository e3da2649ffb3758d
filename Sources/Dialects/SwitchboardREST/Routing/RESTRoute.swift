import Switchboard
import SwitchboardHTTPRules
import SwitchboardOpenAPI
import SwitchboardProtobuf
import SwitchboardText

/// A way to call a method, with its types and fields resolved. An object, because calls pass it on.
final class RESTRoute: Sendable {
  /// How the body of a request is decoded.
  enum RequestBody: Sendable {
    case none
    /// JSON of the whole request, or of one field.
    case json(TableField?)
    /// Any bytes, which become an `HttpBody`: the whole request, or one field.
    case raw(TableField?)
  }

  /// How the body of a response is encoded.
  enum ResponseBody: Sendable {
    case json(TableField?)
    case raw(TableField?)
  }

  /// A variable of the template, and the field that it sets.
  struct Variable: Sendable {
    let field: FieldPath
    let segments: Range<Int>
    let isOpen: Bool
    let decoding: PercentEncoding.Decoding
  }

  /// Its index in the routes of its table.
  let number: Int
  let binding: HTTPBinding
  /// The method's full name: `shop.Books.GetBook`.
  let method: String
  /// The method's gRPC path.
  let grpcPath: String
  let request: MessageTable
  let response: MessageTable
  let requestBody: RequestBody
  let responseBody: ResponseBody
  let variables: [Variable]
  let streamsRequests: Bool
  let streamsResponses: Bool

  /// Whether the media type of a body becomes a part of the request.
  var takesMediaType: Bool { if case .raw = requestBody { true } else { false } }

  /// Whether a request without a query has its whole message in its body, as JSON.
  var hasBodiesAlone: Bool {
    if case .json = requestBody { variables.isEmpty && !streamsRequests } else { false }
  }

  /// Whether caches may keep the responses, so that these must name the request headers that they depend on.
  var mayBeCached: Bool { binding.method == "GET" }

  static let httpBody = "google.api.HttpBody"

  init(
    _ number: Int,
    _ binding: HTTPBinding,
    of method: DescribedAPI.Method,
    request: MessageTable,
    response: MessageTable
  ) throws(HTTPRuleError) {
    try Self.check(binding, of: method, request, response)
    func fail(_ reason: String) -> HTTPRuleError { HTTPRuleError(method.fullName, binding, reason) }
    func field(_ name: String, _ type: MessageTable) throws(HTTPRuleError) -> TableField {
      guard let field = type.field(named: name) else { throw fail("\(type.fullName) has no field \(name)") }
      return field
    }
    func isRaw(_ field: TableField, _ type: MessageTable) -> Bool {
      !field.isRepeated && type.message(of: field)?.fullName == RESTRoute.httpBody
    }
    self.number = number
    self.binding = binding
    self.method = method.fullName
    grpcPath = method.grpcPath
    self.request = request
    self.response = response
    streamsRequests = method.descriptor.clientStreaming
    streamsResponses = method.descriptor.serverStreaming
    switch binding.body {
    case .none: requestBody = .none
    case .whole: requestBody = request.fullName == RESTRoute.httpBody ? .raw(nil) : .json(nil)
    case .field(let name):
      let field = try field(name, request)
      requestBody = isRaw(field, request) ? .raw(field) : .json(field)
    }
    if let name = binding.responseBody {
      let field = try field(name, response)
      responseBody = isRaw(field, response) ? .raw(field) : .json(field)
    } else {
      responseBody = response.fullName == RESTRoute.httpBody ? .raw(nil) : .json(nil)
    }
    var variables: [Variable] = []
    for variable in binding.template.variables {
      guard let path = FieldPath(variable.fieldPath, in: request) else {
        // The rule has been checked, but for that.
        throw fail(
          "a variable of the path names a field that is nested more than \(FieldPath.maximumDepth) deep"
        )
      }
      variables.append(
        Variable(
          field: path,
          segments: variable.segments,
          isOpen: binding.template.segments[variable.segments.upperBound - 1] == .rest,
          decoding: variable.isMultiple ? .unreserved : .all
        )
      )
    }
    self.variables = variables
  }
}

extension RESTRoute {
  /// Checks the fields that a rule names, as the generator does.
  private static func check(
    _ binding: HTTPBinding,
    of method: DescribedAPI.Method,
    _ request: MessageTable,
    _ response: MessageTable
  ) throws(HTTPRuleError) {
    var types = [ExactText(request.fullName): request]
    types[ExactText(response.fullName)] = response
    do throws(RuleMistake) {
      try binding.check(method.fullName, request: request.fullName, response: response.fullName) {
        name,
        message in
        guard let type = types[message], let field = type.field(inJSON: name) else { return nil }
        let inner = type.message(of: field)
        if let inner { types[inner.fullName] = inner }
        return RuleField(field.name, isRepeated: field.isRepeated, message: inner?.fullName)
      }
    } catch {
      throw HTTPRuleError(error)
    }
  }
}

// What is allowed, and hardly meant.
extension RESTRoute {
  private static let mostShown = 3

  var takesBody: Bool { if case .none = requestBody { false } else { true } }

  /// Of a method that streams requests, when none of its rules takes a body.
  var doubtOfStream: String {
    let reason =
      "the method streams requests, of which a rule without a body makes one, of the path and the query: "
      + "give it a rule with body: \"*\", such as a post"
    return HTTPRuleError(method, binding, reason).description
  }

  /// A rule for what is usually sent with a body, whose fields could only be in the query.
  var doubt: String? {
    guard !takesBody, ["POST", "PUT", "PATCH"].contains(binding.method ?? "") else { return nil }
    let names = fieldsOutsideThePath(of: request, [])
    guard !names.isEmpty else { return nil }
    let more = names.count > Self.mostShown ? " and \(names.count - Self.mostShown) more" : ""
    let reason =
      "it takes no body, so that \(names.prefix(Self.mostShown).joined(separator: ", "))\(more) can only be in the query: "
      + "add body: \"*\", or the field that is the body"
    return HTTPRuleError(method, binding, reason).description
  }

  /// The names of the fields that no variable sets. Of a message of which a variable sets a part, those of the others.
  private func fieldsOutsideThePath(of type: MessageTable, _ outer: [TableField]) -> [String] {
    type.fields.flatMap { field -> [String] in
      let path = outer + [field]
      let set = variables.filter { $0.field.fields.starts(with: path) }
      guard !set.contains(where: { $0.field.fields.count == path.count }) else { return [] }
      guard !set.isEmpty, let inner = type.message(of: field) else {
        return [path.map(\.name).joined(separator: ".")]
      }
      return fieldsOutsideThePath(of: inner, path)
    }
  }
}
