// text: the HTTP methods of the program's routes

import Switchboard
import SwitchboardDescriptors
import SwitchboardHTTPRules
import SwitchboardOpenAPI
import SwitchboardProtobuf
import SwitchboardText
import SwitchboardTransport

/// All routes of a server, compiled once.
struct RESTTable: Sendable {
  let routes: [RESTRoute]
  /// The types that the files declare.
  let types: [MessageTable]
  private let tree: RouteTree

  init(_ api: DescribedAPI) throws(HTTPRuleError) {
    let pool: DescriptorPool
    do throws(DescriptorError) {
      pool = try DescriptorPool(api.files)
    } catch {
      throw HTTPRuleError("invalid descriptors: \(error)")
    }
    var routes: [RESTRoute] = []
    var names: [(name: String, binding: HTTPBinding)] = []
    for method in api.methods where !method.bindings.isEmpty {
      func type(_ name: String) throws(HTTPRuleError) -> MessageTable {
        let name = name.begins(with: ".") ? String(Substring(name.utf8.dropFirst())) : name
        guard let type = pool.messageType(named: name) else {
          throw HTTPRuleError("\(method.fullName): there is no message \(name)")
        }
        return type
      }
      let (request, response) = (
        try type(method.descriptor.inputType), try type(method.descriptor.outputType)
      )
      for binding in method.bindings {
        let number = routes.count
        routes.append(try RESTRoute(number, binding, of: method, request: request, response: response))
        names.append((method.fullName, binding))
      }
    }
    tree = try RouteTree(names)
    self.routes = routes
    types = pool.messageTypes
  }

  /// The result of looking up a request.
  enum Match {
    case route(RESTRoute, RequestPath)
    case otherMethods([String])
    case none
  }

  func match(_ method: [UInt8], _ path: ArraySlice<UInt8>) -> Match {
    switch tree.match(method, path) {
    case .route(let index, let found): return .route(routes[index], found)
    case .otherMethods(let methods):
      guard let get = routeOfHead(path, methods) else { return .otherMethods(methods) }
      guard !method.elementsEqual("HEAD".utf8) else { return get }
      return .otherMethods((methods + ["HEAD"]).sorted())
    case .none: return .none
    }
  }

  /// The route that is called by `GET` at this path and at no other.
  func literalRoute(of path: String) -> RESTRoute? {
    guard case .route(let route, _) = match(Array("GET".utf8), Array(path.utf8)[...]),
      route.binding.template.onlyPath != nil
    else { return nil }
    return route
  }

  /// The rules of which pages of the server, with the same path and method, leave nothing.
  func hiddenByPages(of methods: RPCMethods) -> [String] {
    routes.compactMap { route in
      guard let path = route.binding.template.onlyPath,
        methods.hasPage(route.binding.method ?? "GET", at: path.utf8)
      else { return nil }
      return "\(route.method) (\(route.binding.method ?? "*") \(path))"
    }
  }

  /// The rules whose clients hardly know how to send all fields.
  var doubts: [String] {
    let withBodies = Set(routes.filter(\.takesBody).map(\.method))
    return routes.compactMap { route in
      route.streamsRequests && !withBodies.contains(route.method) ? route.doubtOfStream : route.doubt
    }
  }

  /// `HEAD` is `GET` without the response body, unless a rule of the kind `HEAD` matches. Streams of responses have no
  /// `HEAD`.
  private func routeOfHead(_ path: ArraySlice<UInt8>, _ methods: [String]) -> Match? {
    guard methods.contains("GET"), !methods.contains("HEAD"),
      case .route(let index, let found) = tree.match(Array("GET".utf8), path), !routes[index].streamsResponses
    else { return nil }
    return .route(routes[index], found)
  }
}
