import CertificateSupport
import EchoService
import Foundation
import ServerTestSupport
import Switchboard
import SwitchboardXDS
import TestSupport
import Testing

/// Servers that endpoints say to reach by an HTTP proxy (gRFC A86).
@Suite(.mayBlock, .timeLimit(.minutes(5))) struct ProxiedServerTests {
  private static let types = "type.googleapis.com/envoy"

  private func metadata(_ address: [String: Any]) -> [String: Any] {
    let key = "envoy.http11_proxy_transport_socket.proxy_address"
    return ["typedFilterMetadata": [key: address]]
  }

  private func metadata(_ proxy: ConnectProxy) -> [String: Any] {
    metadata([
      "@type": "\(Self.types).config.core.v3.Address",
      "socketAddress": ["address": "127.0.0.1", "portValue": proxy.port],
    ])
  }

  private func place(_ zone: String, _ ports: [Int], by proxy: ConnectProxy?) -> [String: Any] {
    var place = Mesh.place(zone, ports: ports)
    if let proxy { place["metadata"] = metadata(proxy) }
    return place
  }

  private func cluster(_ socket: [String: Any]? = nil) -> [String: Any] {
    var config: [String: Any] = [
      "@type": "\(Self.types).extensions.transport_sockets.http_11_proxy.v3.Http11ProxyUpstreamTransport"
    ]
    config["transportSocket"] = socket
    return Mesh.cluster("one", more: ["transportSocket": ["name": "proxied", "typedConfig": config]])
  }

  private func mesh(
    _ places: [[String: Any]],
    _ cluster: [String: Any]? = nil,
    version: String = "1"
  ) -> Mesh {
    var mesh = Mesh("greeter", version: version, routes: [Mesh.route(to: "one")], clusters: [:])
    mesh.clusters = [cluster ?? self.cluster()]
    mesh.endpoints = [Mesh.assignment("one", places)]
    return mesh
  }

  /// An endpoint's own proxy comes before that of its place.
  @Test func endpointsAndPlacesHaveProxies() async throws {
    try await withMesh(servers: 4) { plane, ports async throws in
      let (own, ofPlace) = (try ConnectProxy(), try ConnectProxy())
      var first = place("a", [ports[0], ports[1]], by: ofPlace)
      var endpoints = try #require(first["lbEndpoints"] as? [[String: Any]])
      endpoints[0]["metadata"] = metadata(own)
      // One of another type is as good as none.
      endpoints[1]["metadata"] = metadata([
        "@type": "type.googleapis.com/google.protobuf.Duration", "value": "1s",
      ])
      first["lbEndpoints"] = endpoints
      try plane.set(mesh([first, place("b", [ports[2]], by: nil), place("c", [ports[3]], by: ofPlace)]))
      func check(_ answers: Set<String>) throws {
        #expect(answers == ["s0", "s1", "s2", "s3"])
        #expect(Set(try own.asked()) == ["127.0.0.1:\(ports[0])"])
        #expect(Set(try ofPlace.asked()) == ["127.0.0.1:\(ports[1])", "127.0.0.1:\(ports[3])"])
      }
      try await withMeshClient("xds:///greeter", plane.bootstrap) { client async throws in
        var answers: Set<String> = []
        while answers.count < 4 { answers.insert(try await client.server()) }
        try check(answers)
      }
      try check(Set(try plane.answersOfGRPC(calls: 400).keys))
    }
  }

  /// The same in Envoy.
  @Test func threeDataPlanesUseTheProxies() async throws {
    let (own, ofPlace) = (try ConnectProxy(), try ConnectProxy())
    try await withDataPlanes(
      servers: 3,
      { ports in
        var first = place("a", [ports[0], ports[1]], by: ofPlace)
        var endpoints = first["lbEndpoints"] as? [[String: Any]] ?? []
        endpoints[0]["metadata"] = metadata(own)
        first["lbEndpoints"] = endpoints
        return mesh([first, place("b", [ports[2]], by: nil)])
      },
      { planes async throws in
        for plane in planes.all {
          let answers = try await planes.answers(of: plane)
          #expect(Set(answers.keys) == ["s0", "s1", "s2"], "\(plane.rawValue): \(answers)")
          #expect(Set(try own.asked()) == ["127.0.0.1:\(planes.ports[0])"], "\(plane.rawValue)")
          #expect(Set(try ofPlace.asked()) == ["127.0.0.1:\(planes.ports[1])"], "\(plane.rawValue)")
        }
      }
    )
  }

  @Test func withoutTheWrapperThereAreNoProxies() async throws {
    try await withMesh(servers: 1) { plane, ports async throws in
      let proxy = try ConnectProxy()
      try plane.set(mesh([place("a", ports, by: proxy)], Mesh.cluster("one")))
      try await withMeshClient("xds:///greeter", plane.bootstrap) { client async throws in
        #expect(try await client.server() == "s0")
      }
      #expect(try plane.answersOfGRPC(calls: 1) == ["s0": 1])
      #expect(try proxy.asked() == [])
    }
  }

  /// The same server by another proxy is another connection, with any policy.
  @Test(arguments: ["ROUND_ROBIN", "RING_HASH", "pick_first"])
  func anUpdateMovesAServerToAnotherProxy(_ policy: String) async throws {
    try await withMesh(servers: 1) { plane, ports async throws in
      let proxies = [try ConnectProxy(), nil, try ConnectProxy()]
      var cluster = cluster()
      if policy == "pick_first" {
        let config = ["@type": "\(Self.types).extensions.load_balancing_policies.pick_first.v3.PickFirst"]
        let extensions: [String: Any] = ["typedExtensionConfig": ["name": "p", "typedConfig": config]]
        cluster["loadBalancingPolicy"] = ["policies": [extensions]]
      } else {
        cluster["lbPolicy"] = policy
      }
      try plane.set(mesh([place("a", ports, by: proxies[0])], cluster))
      try await withMeshClient("xds:///greeter", plane.bootstrap) { client async throws in
        #expect(try await client.server() == "s0")
        #expect(try proxies[0]?.asked() == ["127.0.0.1:\(ports[0])"])
        for (number, proxy) in proxies.enumerated().dropFirst() {
          try plane.set(mesh([place("a", ports, by: proxy)], cluster, version: "\(number + 1)"))
          guard let proxy else { continue }
          while try proxy.asked().isEmpty {
            #expect(try await client.server() == "s0")
            try Task.checkCancellation()
          }
        }
        #expect(try proxies[0]?.asked() == [])
      }
    }
  }

  /// The channel's own proxy is for others.
  @Test func anEndpointsProxyTakesThePlaceOfTheChannels() async throws {
    try await withMesh(servers: 2) { plane, ports async throws in
      let (proxy, usual) = (try ConnectProxy(), try ConnectProxy())
      try plane.set(mesh([place("a", [ports[0]], by: proxy), place("b", [ports[1]], by: nil)]))
      try await withMeshClient(
        "xds:///greeter",
        plane.bootstrap,
        { $0.proxy = .http(host: "127.0.0.1", port: usual.port) }
      ) { client async throws in
        var answers: Set<String> = []
        while answers.count < 2 { answers.insert(try await client.server()) }
      }
      #expect(try proxy.asked() == ["127.0.0.1:\(ports[0])"])
      #expect(try usual.asked() == ["127.0.0.1:\(ports[1])"])
    }
  }

  @Test func aProxyThatRefusesFailsCalls() async throws {
    try await withMesh(servers: 1) { plane, ports async throws in
      let proxy = try ConnectProxy(status: 403)
      try plane.set(mesh([place("a", ports, by: proxy)]))
      try await withMeshClient("xds:///greeter", plane.bootstrap) { client async throws in
        let failure = await #expect(throws: GRPCStatus.self) { try await client.server() }
        #expect(failure?.code == .unavailable)
        #expect(
          failure?.message?.contains("the proxy 127.0.0.1:\(proxy.port) refused: 403 Not Today") == true
        )
      }
      #expect(try plane.answersOfGRPC(calls: 1) == ["UNAVAILABLE": 1])
    }
  }

  // MARK: What is in the wrapper

  private func secured() -> [String: Any] {
    let validation: [String: Any] = ["caCertificateProviderInstance": ["instanceName": "roots"]]
    let context: [String: Any] = [
      "@type": "\(Self.types).extensions.transport_sockets.tls.v3.UpstreamTlsContext",
      "commonTlsContext": ["validationContext": validation],
    ]
    return ["name": "envoy.transport_sockets.tls", "typedConfig": context]
  }

  private func bootstrap(_ plane: PlanePeer) -> XDSBootstrap {
    var bootstrap = plane.bootstrap
    let set = CertificateSet(credentials: TestCertificates.client, trustRoots: TestCertificates.authority)
    bootstrap.setCertificateProvider(MemoryCertificates(set), named: "roots")
    return bootstrap
  }

  /// TLS is with the server, inside the tunnel.
  @Test func theWrapperMayHaveTLS() async throws {
    let plane = try PlanePeer()
    var options = ServerOptions()
    options.tls = ServerTLS(credentials: TestCertificates.server)
    options.logger = .quiet
    try await withServer([NamedEcho(name: "secured")], options: options) { _, address async throws in
      let proxy = try ConnectProxy()
      try plane.set(mesh([place("a", [Int(address.port)], by: proxy)], cluster(secured())))
      let resolver = XDSResolver(bootstrap: bootstrap(plane), usesClusterSecurity: true, logger: .quiet)
      try await withMeshClient("xds:///greeter", plane.bootstrap, { $0.resolvers = [resolver] }) {
        client async throws in
        #expect(try await client.server() == "secured")
      }
      #expect(try proxy.asked() == ["127.0.0.1:\(address.port)"])
    }
  }

  /// A channel with its own security goes by the proxy too.
  @Test func theProxyCountsWithoutTheClustersSecurity() async throws {
    try await withMesh(servers: 1) { plane, ports async throws in
      let proxy = try ConnectProxy()
      try plane.set(mesh([place("a", ports, by: proxy)], cluster(secured())))
      try await withMeshClient("xds:///greeter", bootstrap(plane)) { client async throws in
        #expect(try await client.server() == "s0")
      }
      #expect(try proxy.asked() == ["127.0.0.1:\(ports[0])"])
    }
  }

  // MARK: Refusals

  private static let address = "type.googleapis.com/envoy.config.core.v3.Address"
  private static let path =
    "metadata.typed_filter_metadata[envoy.http11_proxy_transport_socket.proxy_address]"

  /// Both clients refuse the same addresses of proxies, but C-core takes a missing port for 0.
  @Test(
    arguments: [
      (#"{"socketAddress": {"address": "127.0.0.1", "portValue": 80}}"#, nil),
      (#"{"socketAddress": {"address": "::1", "portValue": 80}}"#, nil),
      ("{}", "socket_address: is missing"), (#"{"pipe": {"path": "/a"}}"#, "socket_address: is missing"),
      (
        #"{"socketAddress": {"address": "proxy.example", "portValue": 80}}"#,
        "socket_address.address: is a name, and no address: proxy.example"
      ),
      (
        #"{"socketAddress": {"address": "1.2.3", "portValue": 80}}"#,
        "socket_address.address: is a name, and no address: 1.2.3"
      ),
      (
        #"{"socketAddress": {"address": "", "portValue": 80}}"#,
        "socket_address.address: is no address and no name: "
      ),
      (
        #"{"socketAddress": {"address": "127.0.0.1", "portValue": 65536}}"#,
        "socket_address.port_value: is missing or above 65535"
      ),
      (
        #"{"socketAddress": {"address": "127.0.0.1"}}"#,
        "socket_address.port_value: is missing or above 65535"
      ),
    ] as [(String, String?)],
    [true, false]
  )
  func aProxyIsAnAddress(_ text: (json: String, fault: String?), _ isOfPlace: Bool) async throws {
    try await withMesh(servers: 1) { plane, ports async throws in
      var address = try #require(
        JSONSerialization.jsonObject(with: Data(text.json.utf8)) as? [String: Any]
      )
      address["@type"] = Self.address
      var place = Mesh.place("a", ports: ports)
      if isOfPlace {
        place["metadata"] = metadata(address)
      } else {
        var endpoints = try #require(place["lbEndpoints"] as? [[String: Any]])
        endpoints[0]["metadata"] = metadata(address)
        place["lbEndpoints"] = endpoints
      }
      // Without the wrapper, so that calls do not need the proxy.
      try plane.set(mesh([place], Mesh.cluster("one")))
      let answer = try await withMeshClient("xds:///greeter", plane.bootstrap) { client async throws in
        let answer = try? await client.server()
        let spot = isOfPlace ? "endpoints[0]" : "endpoints[0].lb_endpoints[0]"
        let reason = try plane.nextAnswer("endpoints", ["one"]).reason
        #expect(reason == text.fault.map { "one: \(spot).\(Self.path).\($0)" } ?? "")
        return answer
      }
      #expect(answer == (text.fault == nil ? "s0" : nil))
      guard text.json.contains("portValue") || !text.json.contains("address") else { return }
      #expect(try plane.answersOfGRPC(calls: 1) == [answer ?? "UNAVAILABLE": 1])
    }
  }

  /// In the wrapper there is TLS or nothing.
  @Test(arguments: [
    "envoy.extensions.transport_sockets.http_11_proxy.v3.Http11ProxyUpstreamTransport",
    "envoy.extensions.filters.http.router.v3.Router",
  ])
  func onlyTLSIsInTheWrapper(_ type: String) async throws {
    try await withMesh(servers: 1) { plane, ports async throws in
      let socket: [String: Any] = [
        "name": "x", "typedConfig": ["@type": "type.googleapis.com/\(type)"],
      ]
      try plane.set(mesh([place("a", ports, by: nil)], cluster(socket)))
      try await withMeshClient("xds:///greeter", plane.bootstrap) { client async throws in
        await #expect(throws: GRPCStatus.self) { try await client.server() }
        let reason = try plane.nextAnswer("clusters", ["one"]).reason
        let path = "one: transport_socket.typed_config.transport_socket.typed_config: "
        #expect(reason.hasPrefix(path) && reason.contains(type), "\(reason)")
      }
      #expect(try plane.answersOfGRPC(calls: 1) == ["UNAVAILABLE": 1])
    }
  }
}
