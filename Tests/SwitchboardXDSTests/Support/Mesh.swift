/// What a control plane has, in JSON.
struct Mesh {
  var version = "1"
  var listeners: [[String: Any]] = []
  var routes: [[String: Any]] = []
  var clusters: [[String: Any]] = []
  var endpoints: [[String: Any]] = []

  var resources: [String: Any] {
    ["listeners": listeners, "routes": routes, "clusters": clusters, "endpoints": endpoints]
  }

  /// A name whose calls go where its routes lead, and a cluster for each list of ports.
  init(_ name: String, version: String = "1", routes: [[String: Any]], clusters: [String: [Int]]) {
    self.version = version
    listeners = [Self.listener(name, routes: "routes-of-\(name)")]
    self.routes = [Self.table("routes-of-\(name)", [Self.host([name], routes)])]
    for (cluster, ports) in clusters {
      self.clusters.append(Self.cluster(cluster))
      endpoints.append(Self.assignment(cluster, ports: ports))
    }
  }

  static var router: [String: Any] {
    [
      "name": "router",
      "typedConfig": ["@type": "type.googleapis.com/envoy.extensions.filters.http.router.v3.Router"],
    ]
  }

  static func listener(
    _ name: String,
    routes: String,
    filters: [[String: Any]] = [Mesh.router]
  ) -> [String: Any] {
    ["name": name, "apiListener": ["apiListener": manager(routes, filters)]]
  }

  private static func manager(_ routes: String, _ filters: [[String: Any]]) -> [String: Any] {
    [
      "@type":
        "type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager",
      "rds": ["routeConfigName": routes, "configSource": source] as [String: Any],
      "httpFilters": filters,
    ]
  }

  /// Where the rest comes from: the same stream.
  private static var source: [String: Any] { ["ads": [:] as [String: Any], "resourceApiVersion": "V3"] }

  static func table(_ name: String, _ hosts: [[String: Any]]) -> [String: Any] {
    ["name": name, "virtualHosts": hosts]
  }

  static func host(_ domains: [String], _ routes: [[String: Any]]) -> [String: Any] {
    ["name": "host", "domains": domains, "routes": routes]
  }

  /// A route for all calls, unless `match` says otherwise.
  static func route(
    to cluster: String,
    match: [String: Any] = ["prefix": ""],
    more: [String: Any] = [:]
  ) -> [String: Any] {
    ["match": match, "route": ["cluster": cluster].merging(more) { $1 }]
  }

  static func split(_ weights: [(String, Int)]) -> [String: Any] {
    let clusters: [[String: Any]] = weights.map { ["name": $0.0, "weight": $0.1] }
    return ["match": ["prefix": ""], "route": ["weightedClusters": ["clusters": clusters]]]
  }

  static func cluster(_ name: String, more: [String: Any] = [:]) -> [String: Any] {
    ["name": name, "type": "EDS", "edsClusterConfig": ["edsConfig": source]].merging(more) { $1 }
  }

  /// A member of a cluster: policies as extensions, of which the first that is known counts. `more` is in the configuration of each.
  static func policies(_ names: [String], _ more: [String: Any] = [:]) -> [String: Any] {
    let policies = names.map { name in
      let kind = name.split(separator: "_").map(\.capitalized).joined()
      let type = "envoy.extensions.load_balancing_policies.\(name).v3.\(kind)"
      let config = more.merging(["@type": "type.googleapis.com/\(type)"]) { $1 }
      return [
        "typedExtensionConfig": ["name": "envoy.load_balancing_policies.\(name)", "typedConfig": config]
      ]
    }
    return ["loadBalancingPolicy": ["policies": policies]]
  }

  static func assignment(_ cluster: String, ports: [Int]) -> [String: Any] {
    assignment(cluster, [place("a", ports: ports)])
  }

  static func assignment(_ cluster: String, _ places: [[String: Any]], more: [String: Any] = [:]) -> [String:
    Any]
  {
    ["clusterName": cluster, "endpoints": places].merging(more) { $1 }
  }

  static func place(
    _ zone: String,
    ports: [Int],
    weight: Int = 1,
    priority: Int = 0,
    host: String = "127.0.0.1"
  ) -> [String: Any] {
    let endpoints: [[String: Any]] = ports.map { port in
      ["endpoint": ["address": ["socketAddress": ["address": host, "portValue": port]]]]
    }
    return [
      "locality": ["zone": zone], "loadBalancingWeight": weight, "priority": priority,
      "lbEndpoints": endpoints,
    ]
  }
}
