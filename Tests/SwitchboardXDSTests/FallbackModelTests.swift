import SwitchboardCall
import SwitchboardText
import Testing

@testable import SwitchboardXDS

/// Random failures, answers and watches of two authorities with two or three control planes, some of which both ask, against a model
/// of which of them must be in use.
@Suite struct FallbackModelTests {
  private struct Authority {
    let servers: [Int]
    let isByReachability: Bool
    var inUse: Int?

    /// What is asked: the one in use, and all before it.
    var asked: Set<Int> {
      guard let inUse, let position = servers.firstIndex(of: inUse) else { return [] }
      return Set(servers[...position])
    }

    func position(_ server: Int) -> Int { servers.firstIndex(of: server) ?? servers.count }
  }

  private struct Model {
    var authorities: [Authority]
    var watches: [ResourceKey: Set<Int>] = [:]
    /// Those that have not answered since a stream of theirs brought nothing.
    var failed: Set<Int> = []
    /// Streams that are to be kept open, those that are, and those of them that are connected, or have brought something.
    var wanted: Set<Int> = []
    var open: Set<Int> = []
    var connected: Set<Int> = []
    var served: Set<Int> = []
    /// The last valid one of each resource, from whoever was in use then.
    var latest: [ResourceKey: Int] = [:]
    var timers: [Int: ResourceKey] = [:]
    /// The version of each type that each control plane may be told of.
    var versions: [Int: [ResourceType: String]] = [:]

    static func authority(of key: ResourceKey) -> Int { key.name.text.hasPrefix("a") ? 0 : 1 }

    func hasWatches(_ authority: Int) -> Bool {
      watches.keys.contains { Self.authority(of: $0) == authority }
    }
    func isLost(_ authority: Int) -> Bool { failed.isSuperset(of: authorities[authority].servers) }

    /// What nobody asks any more is forgotten.
    mutating func forget() {
      failed.formIntersection(authorities.reduce(into: Set<Int>()) { $0.formUnion($1.asked) })
    }

    /// The one in use has failed, and that matters: another one is, if there is one that has not failed.
    mutating func leave(_ authority: Int) {
      let own = authorities[authority]
      guard let inUse = own.inUse, failed.contains(inUse) else { return }
      let good = own.servers.filter { !failed.contains($0) }
      let later = good.first { own.position($0) > own.position(inUse) }
      authorities[authority].inUse = later ?? good.first ?? own.servers.last
      forget()
    }
  }

  private struct Life {
    var dice: Dice
    var state: DiscoveryState
    var model: Model
    let dropsFaults: Bool
    var steps: [String] = []
    var count = 0
    var moves = 0
    var losses = 0
    var fault: String?

    init(seed: UInt64) {
      dice = Dice(seed: seed)
      dropsFaults = dice.below(2) == 0
      let lists = [
        [[0, 1], [0, 1, 2], [2, 0]][dice.below(3)], [[0, 1], [1, 0, 2], [2, 1], [0]][dice.below(4)],
      ]
      let isByReachability = [dice.below(3) == 0, dice.below(3) == 0]
      let choices = zip(lists, isByReachability).map { ServerChoice($0, isByReachability: $1) }
      let features: Set<XDSBootstrap.Feature> = dropsFaults ? [.failOnDataErrors] : []
      state = DiscoveryState(
        servers: (0..<3).map { .init(name: "s\($0)", features: features) },
        authorities: choices,
        counts: ResourceCounts()
      )
      model = Model(
        authorities: choices.map { Authority(servers: $0.servers, isByReachability: $0.isByReachability) }
      )
      steps.append("\(lists), \(isByReachability), drops: \(dropsFaults)")
    }

    mutating func check(_ holds: Bool, _ what: @autoclosure () -> String) {
      if !holds, fault == nil { fault = what() }
    }

    private func resource(_ type: ResourceType, _ number: Int) -> Resource {
      type == .cluster
        ? .cluster(ClusterResource(name: "", kind: .endpoints("\(number)"), policy: .whole([])))
        : .endpoints(EndpointsResource(priorities: [], drops: [.init(category: "", millionths: number)]))
    }

    private func number(_ resource: Resource) -> Int? {
      switch resource {
      case .cluster(let own): if case .endpoints(let name) = own.kind { Int(name) } else { nil }
      case .endpoints(let own): own.drops.first?.millionths
      case .listener, .routes: nil
      }
    }

    /// Whether it matters to an authority that nobody answers, by what the state shows to others.
    private func matters(_ authority: Int) -> Bool {
      model.hasWatches(authority)
        && (model.authorities[authority].isByReachability
          || state.records.contains { key, record in
            Model.authority(of: key) == authority && record.used == nil && record.status != .missing
          })
    }

    mutating func step() {
      count += 1
      let type: ResourceType = dice.below(2) == 0 ? .cluster : .endpoints
      let key = ResourceKey(type, "\(dice.below(2) == 0 ? "a" : "b")\(dice.below(2))")
      let server = dice.below(3)
      switch dice.below(14) {
      case 0, 1: watch(key)
      case 2: unwatch(key)
      case 3: open(server)
      case 4: if dice.below(4) == 0 { postpone(server) } else { open(server) }
      case 5: connect(server)
      case 6, 7, 8: end(server)
      case 9:
        guard let timer = model.timers.keys.min(), let key = model.timers.removeValue(forKey: timer) else {
          return
        }
        steps.append("time is up for \(key)")
        take(state.timeIsUp(key, timer))
      case 10: respond(server, type, isEmpty: true)
      default: respond(server, type, isEmpty: false)
      }
    }

    private mutating func watch(_ key: ResourceKey) {
      steps.append("watch \(key) as \(count)")
      let authority = Model.authority(of: key)
      let isNew = model.watches[key] == nil
      model.watches[key, default: []].insert(count)
      if isNew {
        model.authorities[authority].inUse =
          model.authorities[authority].inUse ?? model.authorities[authority].servers[0]
        model.leave(authority)
      }
      take(state.watch(key, count, of: authority))
    }

    private mutating func unwatch(_ key: ResourceKey) {
      guard let id = model.watches[key]?.min() else { return }
      steps.append("unwatch \(key) as \(id)")
      model.watches[key]?.remove(id)
      if model.watches[key]?.isEmpty == true { (model.watches[key], model.latest[key]) = (nil, nil) }
      let authority = Model.authority(of: key)
      if !model.hasWatches(authority) {
        model.authorities[authority].inUse = nil
        model.forget()
      }
      take(state.unwatch(key, id))
    }

    private mutating func open(_ server: Int) {
      guard model.wanted.contains(server), model.open.insert(server).inserted else { return }
      steps.append("s\(server) opened")
      model.served.remove(server)
      state.opened(server)
      take([])
    }

    private mutating func connect(_ server: Int) {
      guard model.open.contains(server) else { return }
      steps.append("s\(server) connected")
      model.connected.insert(server)
      take(state.connected(server))
    }

    private mutating func end(_ server: Int) {
      guard model.open.remove(server) != nil else { return }
      model.connected.remove(server)
      let hasServed = model.served.contains(server)
      steps.append("s\(server) ended, and \(hasServed ? "had served" : "failed")")
      let lost = hasServed ? [] : fail(server)
      take(state.ended(server, GRPCStatus(code: .unavailable, message: "lost")), lost)
    }

    /// Its next stream has to wait.
    private mutating func postpone(_ server: Int) {
      guard model.wanted.contains(server), !model.open.contains(server) else { return }
      steps.append("s\(server) has to wait")
      let lost = fail(server)
      take(state.postponed(server, GRPCStatus(code: .unavailable, message: "lost")), lost)
    }

    /// Returns the authorities for which nobody is left.
    private mutating func fail(_ server: Int) -> [Int] {
      model.failed.insert(server)
      var lost: [Int] = []
      for authority in model.authorities.indices where model.authorities[authority].inUse == server {
        if matters(authority) { model.leave(authority) }
        if model.isLost(authority) { lost.append(authority) }
      }
      return lost
    }

    private mutating func take(_ actions: [DiscoveryState.Action], _ lost: [Int]) {
      // All who watch are told if no control plane is left, and nobody is otherwise.
      let told = actions.compactMap { if case .tell(let ids, _) = $0 { ids } else { nil } }.joined()
      let watching = model.watches.filter { lost.contains(Model.authority(of: $0.key)) }.values.joined()
      check(
        told.sorted() == watching.sorted(),
        "\(told.sorted()) were told of a failure, and not \(watching.sorted())"
      )
      losses += lost.count
      take(actions)
    }

    private mutating func respond(_ server: Int, _ type: ResourceType, isEmpty: Bool) {
      guard model.open.contains(server) else { return }
      model.connected.insert(server)
      model.served.insert(server)
      model.failed.remove(server)
      var reads: [ResourceReader.Read] = []
      for name in isEmpty ? [] : ["a0", "a1", "b0", "b1"] {
        switch dice.below(4) {
        case 0: reads.append(.init(name: name, result: .failure(ResourceFault("", "bad"))))
        case 1: break
        default: reads.append(.init(name: name, result: .success(resource(type, dice.below(3)))))
        }
      }
      let valid = reads.filter { (try? $0.result.get()) != nil }
        .compactMap { read in
          read.name.map { (ResourceKey(type, $0), (try? read.result.get()).flatMap(number)) }
        }
      for authority in model.authorities.indices where model.authorities[authority].asked.contains(server) {
        guard model.authorities[authority].inUse != server else { continue }
        if valid.contains(where: { model.watches[$0.0] != nil && Model.authority(of: $0.0) == authority }) {
          model.authorities[authority].inUse = server
          model.forget()
        } else if matters(authority) {
          model.leave(authority)
        }
      }
      for (key, number) in valid where model.watches[key] != nil {
        let authority = model.authorities[Model.authority(of: key)]
        guard authority.inUse == server else { continue }
        model.latest[key] = number
        for other in authority.servers where other != server {
          model.versions[other, default: [:]][type] = nil
        }
      }
      if reads.count == valid.count { model.versions[server, default: [:]][type] = "v\(count)" }
      steps.append(
        "s\(server) answers \(type.noun): \(reads.map { "\($0.name ?? "") \((try? $0.result.get()).flatMap(number).map(String.init) ?? "bad")" })"
      )
      let actions = state.received(server, type, version: "v\(count)", nonce: "\(count)", reads)
      take(actions)
    }

    /// Does what the state says, and compares what is so then.
    private mutating func take(_ actions: [DiscoveryState.Action]) {
      for action in actions {
        switch action {
        case .open(let server): check(model.wanted.insert(server).inserted, "s\(server) is opened twice")
        case .close(let server):
          check(model.wanted.remove(server) != nil, "s\(server) is closed, and was not open")
          model.open.remove(server)
          model.connected.remove(server)
          model.served.remove(server)
          model.failed.remove(server)
          model.versions[server] = nil
        case .startTimer(let key, let timer, _):
          check(!model.timers.values.contains(key), "two timers run for one resource")
          model.timers[timer] = key
        case .cancelTimer(let timer): model.timers[timer] = nil
        case .tell, .log: break
        }
      }
      for (position, authority) in model.authorities.enumerated() {
        let asked = state.asked(position)
        check(
          asked.last == authority.inUse,
          "\(asked) are asked, and s\(authority.inUse ?? -1) must be in use"
        )
        check(Set(asked) == authority.asked, "\(asked) are asked, and not \(authority.asked)")
      }
      let all = model.authorities.reduce(into: Set<Int>()) { $0.formUnion($1.asked) }
      let wanted = model.wanted
      check(wanted == all, "\(wanted) have streams, and not \(all)")
      for key in model.timers.values {
        let server = model.authorities[Model.authority(of: key)].inUse
        check(
          server.map { model.connected.contains($0) } == true,
          "a timer runs for one that is not connected"
        )
        check(model.watches[key] != nil, "a timer runs for what nobody watches")
        check(state.resource(key) == nil, "a timer runs for what is known")
      }
      for key in model.watches.keys {
        guard let used = state.resource(key) else { continue }
        check(number(used) == model.latest[key], "\(key) is not the latest one that counts")
      }
      for server in 0..<3 { checkRequests(server) }
      if model.authorities.contains(where: { $0.inUse != nil && $0.inUse != $0.servers[0] }) { moves += 1 }
    }

    private mutating func checkRequests(_ server: Int) {
      while let request = state.nextRequest(server) {
        check(model.open.contains(server), "a request is sent without a stream")
        let names = model.watches.keys.filter {
          $0.type == request.type && model.authorities[Model.authority(of: $0)].asked.contains(server)
        }
        check(request.names == names.map(\.name.text).sorted(), "s\(server) is asked for \(request.names)")
        let version = model.versions[server]?[request.type] ?? ""
        check(
          request.version == version,
          "s\(server) is told of the version \(request.version), and not \(version)"
        )
      }
    }
  }

  @Test(arguments: 0..<20) func theRightControlPlaneIsInUse(_ block: Int) {
    var (moves, losses) = (0, 0)
    for seed in 0..<100 {
      var life = Life(seed: UInt64(block * 1000 + seed))
      for _ in 0..<80 where life.fault == nil { life.step() }
      moves += life.moves
      losses += life.losses
      guard let fault = life.fault else { continue }
      Issue.record("seed \(block * 1000 + seed): \(fault), after:\n\(life.steps.joined(separator: "\n"))")
      return
    }
    // A check in which nothing happens proves nothing.
    #expect(
      moves > 500 && losses > 20,
      "others were in use \(moves) times, and all had failed \(losses) times"
    )
  }
}
