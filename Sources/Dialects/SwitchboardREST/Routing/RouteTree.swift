// text: the HTTP methods of the program's routes

import SwitchboardHTTPRules
import SwitchboardOpenAPI

/// The templates of all routes, as a tree of segments that is built once.
///
/// A literal takes precedence over `*`, and `*` over `**`. Every node except a `**` matches exactly one segment and is
/// reached in only one way, so a lookup visits no node twice, whatever the path.
struct RouteTree: Sendable {
  private struct Node: Sendable {
    /// Children for literal segments, sorted by their bytes.
    var literals: [(bytes: [UInt8], node: Int)] = []
    var one: Int?
    var rest: Int?
    var ends: [End] = []
  }

  /// A route that ends at a node.
  private struct End: Sendable {
    /// `nil` for any method.
    let method: [UInt8]?
    let verb: [UInt8]?
    let route: Int
  }

  private var nodes = [Node()]
  private var verbs: Set<[UInt8]> = []

  /// Builds the tree. Lookups return indexes into `routes`. Throws an error that names both if two routes conflict.
  init(_ routes: [(name: String, binding: HTTPBinding)]) throws(HTTPRuleError) {
    for (index, route) in routes.enumerated() {
      let end = End(
        method: route.binding.method.map { Array($0.utf8) },
        verb: route.binding.template.verb.map { Array($0.utf8) },
        route: index
      )
      if let verb = end.verb { verbs.insert(verb) }
      let node = insert(route.binding.template.segments)
      if let other = nodes[node].ends.first(where: { $0.method == end.method && $0.verb == end.verb }) {
        throw .conflict(routes[other.route], route)
      }
      nodes[node].ends.append(end)
    }
    for index in nodes.indices { nodes[index].literals.sort { $0.bytes.lexicographicallyPrecedes($1.bytes) } }
  }

  private mutating func insert(_ segments: [PathTemplate.Segment]) -> Int {
    var node = 0
    for segment in segments {
      let next: Int?
      switch segment {
      case .literal(let text): next = nodes[node].literals.first { $0.bytes.elementsEqual(text.utf8) }?.node
      case .one: next = nodes[node].one
      case .rest: next = nodes[node].rest
      }
      if let next {
        node = next
        continue
      }
      let new = nodes.count
      nodes.append(Node())
      switch segment {
      case .literal(let text): nodes[node].literals.append((Array(text.utf8), new))
      case .one: nodes[node].one = new
      case .rest: nodes[node].rest = new
      }
      node = new
    }
    return node
  }

  // MARK: Lookup

  /// The result of a lookup.
  enum Match: Equatable {
    case route(Int, RequestPath)
    /// The path exists, but not with the request's method. The value lists the methods that it has.
    case otherMethods([String])
    case none
  }

  /// Finds the route of a request.
  func match(_ method: [UInt8], _ path: ArraySlice<UInt8>) -> Match {
    guard var request = RequestPath(path) else { return .none }
    var search = Search(method: method)
    if !verbs.isEmpty, let verb = request.verb, verbs.contains(verb) {
      // The colon belongs to the last segment unless the rest matches a route with this verb.
      var short = request
      short.dropVerb(verb)
      search.verb = verb
      if let route = find(short, &search) { return .route(route, short) }
    }
    search.verb = nil
    if let route = find(request, &search) { return .route(route, request) }
    request.segments = []
    return search.allowed.isEmpty ? .none : .otherMethods(search.allowed.sorted())
  }

  private struct Search {
    let method: [UInt8]
    var verb: [UInt8]?
    var allowed: Set<String> = []
  }

  /// Finds the route of the segments from `index` on, below a node. Recurses as deep as the templates are long.
  private func find(_ path: RequestPath, from index: Int = 0, below node: Int = 0, _ search: inout Search)
    -> Int?
  {
    guard index < path.segments.count else {
      return route(at: node, &search) ?? nodes[node].rest.flatMap { route(at: $0, &search) }
    }
    let segment = path.segments[index]
    if let next = literal(path.bytes[segment], of: node),
      let route = find(path, from: index + 1, below: next, &search)
    {
      return route
    }
    if !segment.isEmpty, let next = nodes[node].one,
      let route = find(path, from: index + 1, below: next, &search)
    {
      return route
    }
    return nodes[node].rest.flatMap { route(at: $0, &search) }
  }

  private func literal(_ segment: ArraySlice<UInt8>, of node: Int) -> Int? {
    let literals = nodes[node].literals
    var (low, high) = (0, literals.count)
    while low < high {
      let middle = low + (high - low) / 2
      if literals[middle].bytes.lexicographicallyPrecedes(segment) { low = middle + 1 } else { high = middle }
    }
    guard low < literals.count, literals[low].bytes.elementsEqual(segment) else { return nil }
    return literals[low].node
  }

  private func route(at node: Int, _ search: inout Search) -> Int? {
    var any: Int?
    for end in nodes[node].ends where end.verb == search.verb {
      if end.method == search.method { return end.route }
      if let method = end.method {
        search.allowed.insert(String(decoding: method, as: UTF8.self))
      } else {
        any = end.route
      }
    }
    return any
  }
}
