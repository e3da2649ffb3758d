import Switchboard
import SwitchboardOpenAPI
import SwitchboardProtobuf
import SwitchboardText
import SwitchboardTransport

/// REST on a server's port: finds the route of a request and turns the request into a call.
final class RESTDialect: Dialect {
  private let table: RESTTable
  /// The methods of the routes, in the same order.
  private let methods: [Forms]
  let encoding: JSONEncodingOptions
  let valueLimit: Int

  /// A method in the form of its route.
  private struct Forms {
    let method: RPCMethod
    /// For requests whose messages are in their bodies alone, if the route has such: these need not be put together.
    let ofBodies: RPCMethod?
  }

  init(_ table: RESTTable, _ options: RESTOptions, _ methods: RPCMethods) throws(GRPCStatus) {
    self.table = table
    try options.checkRules()
    var decoding = JSONDecodingOptions()
    decoding.ignoreUnknownFields = options.ignoresUnknownFields
    decoding.messageDepthLimit = options.depthLimit
    var encoding = options.json
    for type in ErrorContent.details { encoding.typeRegistry.insert(type) }
    for type in table.types {
      decoding.typeRegistry.insert(type)
      encoding.typeRegistry.insert(type)
    }
    self.encoding = encoding
    valueLimit = options.valueLimit
    var found: [Forms] = []
    for route in table.routes {
      guard let method = methods.method(Array(route.grpcPath.utf8))?.inFormat(.proto) else {
        throw GRPCStatus(
          code: .invalidArgument,
          message: "REST: the server has no method \(route.grpcPath) that takes protobuf"
        )
      }
      func form(ofBodies: Bool) -> RPCMethod {
        method.inFormat(RESTFormat(route, decoding, encoding, requestsAreBodies: ofBodies))
      }
      found.append(
        Forms(method: form(ofBodies: false), ofBodies: route.hasBodiesAlone ? form(ofBodies: true) : nil)
      )
    }
    self.methods = found
  }

  func accept(_ request: borrowing DialectRequest, _ methods: RPCMethods) -> DialectDecision? {
    let path = request.path
    switch table.match(Array(request.httpMethod.utf8), path) {
    case .none:
      // Leave a method's gRPC path, Connect calls, and pages that have other HTTP methods to their own protocols.
      guard request.method == nil, !request.isConnect, !methods.hasPage(at: path) else { return nil }
      let error = GRPCStatus(code: .notFound, message: "there is nothing at this path")
      return .page(page(request.httpMethod, path, 404, error))
    case .otherMethods(let methods):
      let error = GRPCStatus(code: .unimplemented, message: "the path does not have this method")
      let allowed: HPACKHeaders = ["allow": methods.joined(separator: ", ")]
      return .page(page(request.httpMethod, path, 405, error, allowed))
    case .route(let route, let path): return call(route, path, request)
    }
  }

  private func call(_ route: RESTRoute, _ path: RequestPath, _ request: borrowing DialectRequest)
    -> DialectDecision
  {
    if case .json = route.requestBody, !request.hasNoBody || !request.contentType.isEmpty, !request.hasJSON {
      let error = GRPCStatus(code: .invalidArgument, message: "the content type is not application/json")
      return .page(page(request.httpMethod, request.path, 415, error))
    }
    let forms = methods[route.number]
    let query = request.query ?? []
    let ofBodies = query.isEmpty ? forms.ofBodies : nil
    let head =
      ofBodies == nil
      ? RequestParts.head(
        of: route,
        path,
        query: query,
        mediaType: route.takesMediaType ? request.contentType : []
      ) : []
    let events = route.streamsResponses && request.headers.acceptsEvents
    let exchange = RESTExchange(
      route,
      head,
      of: self,
      answersEvents: events,
      hasNoBody: request.hasNoBody
    )
    let settings = DialectSettings(request.headers, of: route)
    return .call(
      DialectCall(
        ofBodies ?? forms.method,
        .unnamed,
        exchange,
        settings: settings,
        isRepeatable: !route.streamsRequests && !route.streamsResponses
      )
    )
  }

  /// A page that answers with an error and ignores the body.
  private func page(
    _ method: String,
    _ path: ArraySlice<UInt8>,
    _ status: Int,
    _ error: GRPCStatus,
    _ headers: HPACKHeaders = HPACKHeaders()
  ) -> HTTPPage {
    let body = ErrorContent.json(error, encoding)
    var page = HTTPPage(method, String(decoding: path, as: UTF8.self)) { _ in
      HTTPPage.Response(status: status, contentType: ErrorContent.contentType, headers: headers, body: body)
    }
    page.ignoresBody = true
    return page
  }
}

extension DialectRequest {
  /// Whether the headers identify a Connect client.
  fileprivate var isConnect: Bool {
    let type = mediaType
    return headers.contains(name: "connect-protocol-version") || type.isExactly("application/proto")
      || type.begins(with: "application/connect+")
  }

  /// Whether the content type is JSON. Browsers let pages send some other types to any origin without permission, so
  /// bodies of other types are rejected.
  fileprivate var hasJSON: Bool {
    // Most requests, without the cost of strings.
    if hasContentType("application/json") { return true }
    let type = mediaType
    return type.isExactly("application/json") || type.begins(with: "application/") && type.ends(with: "+json")
  }
}

extension HPACKHeaders {
  /// Whether the client wants server-sent events, as browsers' `EventSource` does: it names them, and does not prefer
  /// lines.
  fileprivate var acceptsEvents: Bool {
    var (events, lines) = (0, 0)
    for value in self["accept"] {
      for item in value.utf8.split(separator: UInt8(ascii: ",")) {
        let parts = item.split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false)
          .map { part in
            part.filter { $0 != 0x20 && $0 != 0x09 }.map { $0 >= 0x41 && $0 <= 0x5A ? $0 | 0x20 : $0 }
          }
        guard let type = parts.first else { continue }
        if type.elementsEqual("text/event-stream".utf8) {
          events = Swift.max(events, Self.quality(parts.dropFirst()))
        } else if type.elementsEqual("application/x-ndjson".utf8) {
          lines = Swift.max(lines, Self.quality(parts.dropFirst()))
        }
      }
    }
    return events > 0 && events >= lines
  }

  /// The quality in thousandths: that of `q=0.5` is 500, and it is 1000 without a `q`.
  private static func quality(_ parameters: some Sequence<[UInt8]>) -> Int {
    for parameter in parameters where parameter.starts(with: "q=".utf8) {
      let digits = parameter.dropFirst(2).filter { $0 != UInt8(ascii: ".") }
      guard let first = digits.first, first != UInt8(ascii: "1") else { return 1000 }
      let thousandths = (digits.dropFirst() + Array("000".utf8)).prefix(3)
      return Int(String(decoding: thousandths, as: UTF8.self)) ?? 1000
    }
    return 1000
  }
}

extension DialectSettings {
  /// The compression of whole bodies that the headers ask for. Streams are not compressed.
  fileprivate init(_ headers: HPACKHeaders, of route: RESTRoute) {
    self.init()
    headers.forEachField { name, value in
      if name.equals("content-encoding"), !value.equals("identity") {
        encoding =
          route.streamsRequests ? nil : MessageCompression(named: value)
      } else if name.equals("accept-encoding"), !route.streamsResponses {
        accepted.add(value)
      }
    }
  }
}
