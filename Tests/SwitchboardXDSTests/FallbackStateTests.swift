import SwitchboardCall
import SwitchboardText
import Testing

@testable import SwitchboardXDS

/// The protocol with several control planes, as a dialogue (gRFC A71).
@Suite struct FallbackStateTests {
  private let key = ResourceKey(.cluster, "c")
  private let lost = GRPCStatus(code: .unavailable, message: "refused")

  private func state(
    _ features: [Set<XDSBootstrap.Feature>] = [[], []],
    isByReachability: Bool = false
  ) -> DiscoveryState {
    let servers = features.enumerated().map {
      DiscoveryState.Server(name: "s\($0.offset)", features: $0.element)
    }
    let choice = ServerChoice(Array(servers.indices), isByReachability: isByReachability)
    return DiscoveryState(servers: servers, authorities: [choice])
  }

  private func read(_ name: String, _ number: Int) -> ResourceReader.Read {
    let cluster = ClusterResource(name: name, kind: .endpoints("e\(number)"), policy: .whole([]))
    return ResourceReader.Read(name: name, result: .success(.cluster(cluster)))
  }

  private func texts(_ actions: [DiscoveryState.Action]) -> [String] { actions.map(\.text) }

  /// Watches `key`, and has the first fail and the second answer.
  private func fallBack(_ state: inout DiscoveryState) {
    #expect(texts(state.watch(key, 1, of: 0)) == ["open 0"])
    state.opened(0)
    #expect(
      texts(state.ended(0, lost)) == [
        "log it cannot be asked, and the cluster c is needed: the control plane s1 is used in its place: refused",
        "open 1",
      ]
    )
    state.opened(1)
    _ = state.nextRequest(1)
    #expect(
      texts(state.received(1, .cluster, version: "5", nonce: "n", [read("c", 1)])) == ["tell [1] e1"]
    )
  }

  @Test func theSecondIsClosedWhenTheFirstSendsWhatIsWatched() {
    var state = state()
    fallBack(&state)
    state.opened(0)
    // Nothing that is watched, or nothing valid: that is no reason, and is not heeded.
    #expect(texts(state.received(0, .cluster, version: "6", nonce: "a", [read("other", 2)])) == [])
    let bad = ResourceReader.Read(name: "c", result: .failure(ResourceFault("type", "is missing")))
    #expect(
      texts(state.received(0, .cluster, version: "7", nonce: "b", [bad])) == [
        "log refused of version 7: c: type: is missing"
      ]
    )
    #expect(state.resource(key) != nil && state.records.first?.record.status == .accepted)
    #expect(
      texts(state.received(0, .cluster, version: "8", nonce: "c", [read("c", 2)])) == [
        "close 1", "log it answers again, and is used in place of the control plane s1", "tell [1] e2",
      ]
    )
    // What the closed one still brings is not heard, and it is asked for nothing.
    #expect(texts(state.received(1, .cluster, version: "9", nonce: "d", [read("c", 3)])) == [])
    _ = state.watch(ResourceKey(.cluster, "d"), 2, of: 0)
    #expect(!state.hasRequest(1))
  }

  /// It is not told of a version that is not used any more, or it would send nothing.
  @Test func theFirstIsAskedForEverythingAgain() {
    var state = state()
    _ = state.watch(key, 1, of: 0)
    state.opened(0)
    _ = state.received(0, .cluster, version: "4", nonce: "m", [read("c", 0)])
    _ = state.ended(0, lost)
    state.opened(0)
    #expect(state.nextRequest(0)?.version == "4")
    _ = state.ended(0, lost)
    #expect(texts(state.watch(ResourceKey(.cluster, "d"), 2, of: 0)).last == "open 1")
    state.opened(1)
    #expect(state.nextRequest(1)?.version == "")
    _ = state.received(1, .cluster, version: "5", nonce: "n", [read("c", 1), read("d", 1)])
    state.opened(0)
    let request = state.nextRequest(0)
    #expect(request?.version == "" && request?.nonce == "" && request?.names == ["c", "d"])
  }

  /// Only the silence of the one in use counts, and its features do.
  @Test func timersAndFaultsAreThoseOfTheOneInUse() {
    var state = state([[], [.failOnDataErrors, .resourceTimerIsTransientError]])
    _ = state.watch(key, 1, of: 0)
    state.opened(0)
    #expect(texts(state.connected(0)) == ["timer 1 of cluster c: 15.0 seconds"])
    #expect(texts(state.ended(0, lost)).first == "cancel 1")
    state.opened(1)
    #expect(texts(state.connected(1)) == ["timer 2 of cluster c: 30.0 seconds"])
    state.opened(0)
    #expect(texts(state.connected(0)) == [])
    #expect(texts(state.timeIsUp(key, 2)) == ["fail [1] the control plane has not sent the cluster c yet"])
    _ = state.received(1, .cluster, version: "1", nonce: "m", [read("c", 1)])
    // The second one's deletion ends it.
    #expect(
      texts(state.received(1, .cluster, version: "2", nonce: "n", [])).contains(
        "fail [1] there is no cluster c"
      )
    )
    #expect(state.resource(key) == nil)
    // What there is not is known: there is no need of a third.
    #expect(texts(state.ended(1, lost)) == [])
  }

  @Test func allThatCannotBeAskedAreNamed() {
    var state = state([[], [], []])
    _ = state.watch(key, 1, of: 0)
    for server in 0..<3 {
      state.opened(server)
      let actions = texts(state.ended(server, GRPCStatus(code: .unavailable, message: "\(server)")))
      #expect(
        actions.last
          == (server < 2
            ? "open \(server + 1)" : "fail [1] no control plane can be asked: s0: 0; s1: 1; s2: 2")
      )
    }
    // The others are tried meanwhile, without a word.
    state.opened(0)
    #expect(texts(state.ended(0, lost)) == [])
    // The second answers, although with nothing: then there is one that can be asked.
    state.opened(1)
    #expect(texts(state.received(1, .listener, version: "1", nonce: "m", [])).contains("close 2"))
    #expect(state.asked(0) == [0, 1])
  }

  @Test func whatIsKnownIsNoReasonUnlessReachabilityAloneCounts() {
    for isByReachability in [false, true] {
      var state = state(isByReachability: isByReachability)
      _ = state.watch(key, 1, of: 0)
      state.opened(0)
      _ = state.received(0, .cluster, version: "4", nonce: "m", [read("c", 0)])
      #expect(texts(state.ended(0, lost)) == [])
      state.opened(0)
      let actions = texts(state.ended(0, lost))
      guard isByReachability else {
        #expect(actions == [])
        continue
      }
      #expect(actions.last == "open 1" && actions[0].contains("and fallback_on_reachability_only is set: "))
    }
  }

  /// A control plane of two authorities has one stream, and is asked only for what each wants of it.
  @Test func authoritiesFallBackAlone() {
    let servers = ["s0", "s1"].map { DiscoveryState.Server(name: $0) }
    var state = DiscoveryState(servers: servers, authorities: [ServerChoice([0, 1]), ServerChoice([1])])
    _ = state.watch(key, 1, of: 0)
    #expect(texts(state.watch(ResourceKey(.cluster, "d"), 2, of: 1)) == ["open 1"])
    state.opened(0)
    state.opened(1)
    #expect(state.nextRequest(1)?.names == ["d"])
    // It is asked for more, and opened no second time.
    #expect(!texts(state.ended(0, lost)).contains("open 1"))
    #expect(state.nextRequest(1)?.names == ["c", "d"])
    state.opened(0)
    #expect(!texts(state.received(0, .cluster, version: "1", nonce: "m", [read("c", 1)])).contains("close 1"))
    #expect(state.nextRequest(1)?.names == ["d"])
  }
}
