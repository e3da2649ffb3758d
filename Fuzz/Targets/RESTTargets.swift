import RESTService
import SwitchboardCall
import SwitchboardHTTPRules
import SwitchboardOpenAPI
import SwitchboardProtobuf
import SwitchboardText

@testable import SwitchboardREST

/// What REST reads of a request before its call: the path, the query, and where the values of a stream end.
enum RESTTargets {
  /// The first line is a template, the second a path: whether they match must be what a simple matcher says.
  static func path(_ input: [UInt8]) throws {
    let lines = input.split(separator: UInt8(ascii: "\n"), maxSplits: 1, omittingEmptySubsequences: false)
    guard lines.count == 2, lines[1].count < 2000 else { return }
    let text = String(decoding: lines[0], as: UTF8.self)
    guard let template = try? PathTemplate(text) else { return }
    try BrokenPromise.unless((try? PathTemplate(text)) == template, "a template is read in two ways")
    let path = lines[1]
    let tree = try RouteTree([("fuzz", try HTTPBinding(HTTPRule("fuzz", "GET", text)))])
    let other = try RouteTree([("fuzz", try HTTPBinding(HTTPRule("fuzz", "*", text)))])
    let match = tree.match(Array("GET".utf8), path)
    try BrokenPromise.unless(other.match(Array("PUT".utf8), path) == match, "the method changes the path")
    guard case .route(_, let found) = match else {
      return try BrokenPromise.unless(!matches(template, path), "a path is not found")
    }
    try BrokenPromise.unless(matches(template, path), "a path is found that does not match")
    for variable in template.variables {
      let isOpen = template.segments[variable.segments.upperBound - 1] == .rest
      let value = found.text(of: variable.segments, isOpen: isOpen)
      try BrokenPromise.unless(
        variable.isMultiple || !value.contains(UInt8(ascii: "/")),
        "one segment has a slash"
      )
      for decoding in [PercentEncoding.Decoding.all, .unreserved, .form] {
        try BrokenPromise.unless(
          PercentEncoding.decode(Array(value), decoding).count <= value.count,
          "decoding makes text longer"
        )
      }
    }
  }

  /// Whether a path matches, found out by splitting strings.
  private static func matches(_ template: PathTemplate, _ path: ArraySlice<UInt8>) -> Bool {
    guard path.first == UInt8(ascii: "/") else { return false }
    var path = path
    while path.last == UInt8(ascii: "/") { path = path.dropLast() }
    if let verb = template.verb {
      let end = [UInt8(ascii: ":")] + Array(verb.utf8)
      guard path.suffix(end.count).elementsEqual(end) else { return false }
      path = path.dropLast(end.count)
    }
    var rest = path.dropFirst().split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)[...]
    if path.isEmpty { rest = [] }
    for segment in template.segments {
      switch segment {
      case .rest: return true
      case .one: guard let first = rest.popFirst(), !first.isEmpty else { return false }
      case .literal(let text):
        guard let first = rest.popFirst(), first.elementsEqual(text.utf8) else { return false }
      }
    }
    return rest.isEmpty
  }

  private static let table: RESTTable? = {
    let files = Testing_Rest_RestMetadata.reflectionData.map { Base64.decode($0.utf8) ?? [] }
    return try? RESTTable(try DescribedAPI(files: files))
  }()

  private static let routes: [(method: String, path: String, type: any Message.Type)] = [
    ("GET", "/v1/query", Testing_Rest_Everything.self),
    ("POST", "/v1/shelves/x/inner", Testing_Rest_Everything.self),
    ("POST", "/v1/files/x", Testing_Rest_Upload.self),
  ]

  /// A query, and after a line feed a body: the request must be one, or be refused for what the client did, and the same for
  /// the generated type and for the described one.
  static func query(_ input: [UInt8]) throws {
    guard let table else { throw BrokenPromise(description: "the service has no routes") }
    let parts = input.split(separator: UInt8(ascii: "\n"), maxSplits: 1, omittingEmptySubsequences: false)
    let body = parts.count > 1 ? Array(parts[1]) : []
    for (method, path, type) in routes {
      guard case .route(let route, let path) = table.match(Array(method.utf8), Array(path.utf8)[...]) else {
        throw BrokenPromise(description: "there is no route")
      }
      let head = RequestParts.head(of: route, path, query: parts[0], mediaType: Array("text/plain".utf8))
      let generated = try request(head + body, of: route, in: MessageTable(of: type))
      let described = try request(head + body, of: route, in: route.request)
      try BrokenPromise.unless(generated == described, "two requests: \(generated), \(described)")
      guard case .failure(let error) = generated else { continue }
      try BrokenPromise.unless(error.code == .invalidArgument, "the client is not blamed: \(error)")
    }
    try values(body)
  }

  /// A request in binary.
  private static func request(
    _ bytes: [UInt8],
    of route: RESTRoute,
    in table: MessageTable
  ) throws -> Result<[UInt8], GRPCStatus> {
    let format = RESTFormat(route, JSONDecodingOptions(), JSONEncodingOptions(), requestsAreBodies: false)
    let message: DynamicMessage
    do throws(GRPCStatus) {
      message = try format.message(RequestParts(bytes.span.bytes, of: route), in: table)
    } catch {
      return .failure(error)
    }
    var options = BinaryEncodingOptions()
    options.deterministic = true
    return .success(try message.serializedBytes(options: options))
  }

  /// The values of a stream must be the same in whatever pieces it arrives.
  private static func values(_ bytes: [UInt8]) throws {
    let whole = values(bytes, pieces: max(1, bytes.count))
    try BrokenPromise.unless(whole == values(bytes, pieces: 1), "pieces give other values than the whole")
    try BrokenPromise.unless(
      whole.reduce(0) { $0 + $1.count } <= bytes.count,
      "values are longer than their bytes"
    )
  }

  private static func values(_ bytes: [UInt8], pieces: Int) -> [[UInt8]] {
    var (values, found, rest) = (JSONValues(limit: 1000), [[UInt8]](), bytes[...])
    do throws(GRPCStatus) {
      while !rest.isEmpty {
        let (value, count) = try values.next(in: rest.prefix(pieces))
        rest = rest.dropFirst(count)
        if let value { found.append(value) }
      }
      if let value = try values.end() { found.append(value) }
    } catch {
      found.append([])
    }
    return found
  }
}
