import CallTestSupport
import Foundation
import ServerTestSupport
import Switchboard
import SwitchboardProtobuf
import TestSupport
import Testing

@testable import SwitchboardXDS

/// What tools see of a client of control planes.
@Suite(.mayBlock, .timeLimit(.minutes(5))) struct ClientStatusTests {
  private struct Answer: Decodable {
    let node: String
    let resources: [Shown]

    /// By type and name.
    subscript(type: String, name: String) -> Shown? { resources.first { $0.type == type && $0.name == name } }
  }

  private struct Shown: Decodable {
    let type: String
    let name: String
    let version: String
    let status: String
    let contents: String
    let isDated: Bool
    let reason: String
    let refused: String
    let failed: String
  }

  private func ask<Value: Decodable>(
    _ address: SocketAddress,
    _ scope: String,
    _ mode: String = "",
    as type: Value.Type = Answer.self
  ) throws -> Value {
    let peer = try PythonPeer("csds_client.py", ["\(address)", scope, mode])
    let line = try #require(peer.line())
    peer.stop()
    do {
      return try JSONDecoder().decode(type, from: Data(line.utf8))
    } catch {
      Issue.record("\(line)")
      throw error
    }
  }

  @Test func eachResourceIsShownAsItCame() async throws {
    try await withMesh(servers: 2) { plane, ports async throws in
      let clusters = ["one": [ports[0]], "two": [ports[1]]]
      try plane.set(Mesh("status", routes: [Mesh.route(to: "one")], clusters: clusters))
      try await withMeshClient("xds:///status", plane.bootstrap) { client async throws in
        #expect(try await client.server() == "s0")
        try await withServer([ClientStatusService()]) { _, address async throws in
          let answer = try ask(address, "xds:///status")
          #expect(answer.node == "test-client")
          #expect(
            answer.resources.map { "\($0.type) \($0.name)" } == [
              "Listener status", "RouteConfiguration routes-of-status", "Cluster one",
              "ClusterLoadAssignment one",
            ]
          )
          for one in answer.resources {
            #expect(one.status == "ACKED" && one.version == "1" && one.isDated && one.reason == "")
            #expect(one.contents.contains(one.name) && one.failed == "{}")
          }
          #expect(try ask(address, "xds:///status", "names").resources.allSatisfy { $0.contents == "{}" })
          #expect(try ask(address, "", "match", as: String.self) == "INVALID_ARGUMENT")

          var broken = Mesh(
            "status",
            version: "2",
            routes: [Mesh.route(to: "two", match: [:])],
            clusters: clusters
          )
          broken.clusters = []
          try plane.set(broken)
          _ = try plane.next("refused", "routes")
          let later = try ask(address, "xds:///status")
          let routes = try #require(later["RouteConfiguration", "routes-of-status"])
          #expect(routes.status == "NACKED" && routes.version == "1" && routes.refused == "2")
          #expect(
            routes.reason
              == "virtual_hosts[0].routes[0].match: has none of the rules for paths that are known"
          )
          #expect(routes.contents.contains("one") && routes.failed.contains("two"))
          #expect(later["Listener", "status"]?.version == "2")
          // What is deleted is still used.
          let cluster = try #require(later["Cluster", "one"])
          #expect(cluster.status == "DOES_NOT_EXIST" && cluster.version == "1" && cluster.refused == "2")
          #expect(cluster.reason == "there is no cluster one" && cluster.contents.contains("one"))
        }
      }
    }
  }

  /// What the state of the protocol keeps for those who look on, by what the control plane is known for.
  @Test(arguments: [[], [XDSBootstrap.Feature.failOnDataErrors], [.resourceTimerIsTransientError]])
  func eachStateIsKept(_ features: [XDSBootstrap.Feature]) throws {
    let key = ResourceKey(.cluster, "c")
    let resource = Resource.cluster(ClusterResource(name: "c", kind: .endpoints("e"), policy: .whole([])))
    let contents = Google_Protobuf_Any.with { $0.value = [1] }
    let time = Google_Protobuf_Timestamp.with { $0.seconds = 9 }
    var state = DiscoveryState(features: Set(features))
    func record() throws -> ResourceRecord { try #require(state.records.first?.record) }

    state.opened()
    _ = state.watch(key, 1)
    #expect(try record() == ResourceRecord())
    _ = state.connected()
    _ = state.timeIsUp(key, 1, at: time)
    let isSlow = features == [.resourceTimerIsTransientError]
    #expect(try record().status == (isSlow ? .late : .missing))
    #expect(try record().failure?.time == time && record().used == nil)

    let read = ResourceReader.Read(name: "c", result: .success(resource), contents: contents)
    _ = state.received(.cluster, version: "1", nonce: "a", [read], at: time)
    let used = ResourceRecord.Version(name: "1", contents: contents, time: time)
    #expect(try record() == ResourceRecord(status: .accepted, used: used))

    let fault = ResourceFault("lb_policy", "is unknown")
    let broken = ResourceReader.Read(name: "c", result: .failure(fault), contents: contents)
    _ = state.received(.cluster, version: "2", nonce: "b", [broken], at: time)
    // CSDS shows what is used, and nothing else.
    let isDropped = features == [.failOnDataErrors]
    #expect(try record().status == .refused && record().used == (isDropped ? nil : used))
    #expect(try record().failure?.version == "2" && record().failure?.reason == "lb_policy: is unknown")
    #expect(try record().failure?.contents == contents)

    _ = state.received(.cluster, version: "3", nonce: "c", [read], at: time)
    #expect(try record().status == .accepted && record().failure == nil)
    _ = state.received(.cluster, version: "4", nonce: "d", [], at: time)
    #expect(try record().status == .missing && record().failure?.version == "4")
    #expect(try (record().used == nil) == isDropped)

    _ = state.received(.cluster, version: "5", nonce: "e", [read], at: time)
    let error = ResourceError(name: "c", code: .notFound, message: "gone")
    _ = state.received(.cluster, version: "6", nonce: "f", [], [.success(error)], at: time)
    #expect(
      try record().status == .withheld(isMissing: true) && record().used?.name == (isDropped ? nil : "5")
    )
    #expect(try record().failure == .init(reason: "NOT_FOUND: gone", time: time, version: "6"))
    #expect(try CacheState(record()) == (isDropped ? .withheld : .withheldButUsed))
    _ = state.unwatch(key, 1)
    #expect(state.records.isEmpty)
  }

  @Test func aResourceThatIsAskedForIsShown() async throws {
    let plane = try PlanePeer()
    let pool = XDSClientPool()
    // Time stands still, so that the resource is not taken to be missing before somebody has looked.
    let client = pool.client(plane.bootstrap, for: "xds:///a", XDSEnvironment(time: ManualTime()))
    let watch = try client.watch(ResourceKey(.listener, "a")) { _ in }
    try await withServer([ClientStatusService(pool)]) { _, address async throws in
      let answer = try ask(address, "xds:///a")
      #expect(answer.resources.map(\.status) == ["REQUESTED"] && answer.resources.first?.isDated == false)
    }
    withExtendedLifetime(watch) {}
  }
}
