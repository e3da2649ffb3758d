import SwitchboardCall
import SwitchboardText
import Testing

@testable import SwitchboardXDS

/// Random events against a model that is too simple to be wrong: for each resource, the last valid one, and whether it counts.
@Suite struct DiscoveryModelTests {
  private struct Model {
    var watches: [ResourceKey: Set<Int>] = [:]
    /// The last valid resource of each that is watched.
    var known: [ResourceKey: Int] = [:]
    /// Those of which the control plane has said last why it does not send them.
    var withheld: Set<ResourceKey> = []
    /// What each watch was told last: a resource, or that there is none.
    var told: [Int: Int?] = [:]
    var timers: [Int: ResourceKey] = [:]
    var version: [ResourceType: String] = [:]
    var nonce: [ResourceType: String] = [:]
    var isOpen = false
    var isConnected = false
  }

  private struct Life {
    var dice: Dice
    var state: DiscoveryState
    var model = Model()
    let dropsFaults: Bool
    var steps: [String] = []
    var count = 0
    var faults: [String] = []

    init(seed: UInt64) {
      dice = Dice(seed: seed)
      dropsFaults = dice.below(2) == 0
      state = DiscoveryState(features: dropsFaults ? [.failOnDataErrors] : [], counts: ResourceCounts())
    }

    mutating func check(_ holds: Bool, _ what: String) { if !holds { faults.append(what) } }

    func resource(_ type: ResourceType, _ number: Int) -> Resource {
      switch type {
      case .listener: .listener(ListenerResource(routes: .named("\(number)")))
      case .routes:
        .routes(RouteTable(virtualHosts: (0..<number).map { _ in VirtualHost(domains: [], routes: []) }))
      case .cluster: .cluster(ClusterResource(name: "", kind: .endpoints("\(number)"), policy: .whole([])))
      case .endpoints:
        .endpoints(EndpointsResource(priorities: [], drops: [.init(category: "", millionths: number)]))
      }
    }

    func number(_ resource: Resource) -> Int? {
      switch resource {
      case .listener(let own): if case .named(let name) = own.routes { Int(name) } else { nil }
      case .routes(let own): own.virtualHosts.count
      case .cluster(let own): if case .endpoints(let name) = own.kind { Int(name) } else { nil }
      case .endpoints(let own): own.drops.first?.millionths
      }
    }

    mutating func step() {
      count += 1
      let type = ResourceType.allCases[dice.below(4)]
      let key = ResourceKey(type, "r\(dice.below(3))")
      switch dice.below(12) {
      case 0, 1:
        steps.append("watch \(key) as \(count)")
        model.watches[key, default: []].insert(count)
        take(state.watch(key, count))
      case 2:
        guard let id = model.watches[key]?.min() else { return }
        steps.append("unwatch \(key) as \(id)")
        model.watches[key]?.remove(id)
        model.told[id] = nil
        if model.watches[key]?.isEmpty == true {
          (model.watches[key], model.known[key]) = (nil, nil)
          model.withheld.remove(key)
        }
        take(state.unwatch(key, id))
      case 3: open()
      case 4:
        guard model.isOpen else { return }
        steps.append("connected")
        model.isConnected = true
        take(state.connected())
      case 5:
        guard dice.below(3) == 0, model.isOpen else { return }
        steps.append("ended")
        (model.isOpen, model.isConnected, model.nonce) = (false, false, [:])
        take(state.ended(GRPCStatus(code: .unavailable, message: "lost")))
        check(model.timers.isEmpty, "a timer outlives its stream")
      case 6:
        guard let timer = model.timers.keys.min(), let key = model.timers.removeValue(forKey: timer) else {
          return
        }
        steps.append("time is up for \(key)")
        take(state.timeIsUp(key, timer))
      default: respond(type)
      }
    }

    private mutating func open() {
      guard !model.isOpen, !model.watches.isEmpty else { return }
      steps.append("opened")
      (model.isOpen, model.nonce) = (true, [:])
      state.opened()
      var asked: Set<ResourceType> = []
      while let request = state.nextRequest() {
        check(request)
        check(request.nonce.isEmpty, "a first request has a nonce")
        check(request.isFirst == asked.isEmpty, "not only the first request is the first")
        asked.insert(request.type)
      }
      check(asked == Set(model.watches.keys.map(\.type)), "a stream does not begin with what is watched")
    }

    private mutating func respond(_ type: ResourceType) {
      guard model.isOpen else { return }
      model.isConnected = true
      model.nonce[type] = "\(count)"
      var reads: [ResourceReader.Read] = []
      var errors: [Result<ResourceError, ResourceFault>] = []
      var isRefused = false
      for name in 0..<3 {
        let key = ResourceKey(type, "r\(name)")
        switch dice.below(5) {
        case 4:
          let error = ResourceError(
            name: key.name.text,
            code: dice.below(2) == 0 ? .notFound : .unavailable,
            message: ""
          )
          errors.append(.success(error))
          if dropsFaults, error.isOfData { model.known[key] = nil }
          if model.watches[key] != nil { model.withheld.insert(key) }
        case 0:
          isRefused = true
          model.withheld.remove(key)
          reads.append(.init(name: key.name.text, result: .failure(ResourceFault("", "bad"))))
          if dropsFaults { model.known[key] = nil }
        case 1:
          if type.isWhole, dropsFaults, !model.withheld.contains(key) { model.known[key] = nil }
        default:
          let number = dice.below(3)
          reads.append(.init(name: key.name.text, result: .success(resource(type, number))))
          if model.watches[key] != nil { model.known[key] = number }
          model.withheld.remove(key)
        }
      }
      steps.append(
        "\(type) \(reads.map { "\($0.name ?? "") \((try? $0.result.get()).flatMap(number).map(String.init) ?? "bad")" })"
      )
      if !isRefused { model.version[type] = "v\(count)" }
      steps.append("\(errors.compactMap { try? $0.get() }.map { "\($0.name) \($0)" })")
      let actions = state.received(type, version: "v\(count)", nonce: "\(count)", reads, errors)
      let answer = state.nextRequest()
      check(answer?.type == type && (answer?.refusal != nil) == isRefused, "a response is answered wrongly")
      if let answer { check(answer) }
      take(actions)
    }

    private mutating func check(_ request: DiscoveryRequest) {
      check(model.isOpen, "a request is sent without a stream")
      let names = model.watches.keys.filter { $0.type == request.type }.map(\.name.text).sorted()
      check(request.names == names, "a request has \(request.names), and not \(names)")
      check(
        request.version == model.version[request.type, default: ""],
        "a request has the version \(request.version)"
      )
      check(
        request.nonce == model.nonce[request.type, default: ""],
        "a request has the nonce \(request.nonce)"
      )
    }

    private mutating func take(_ actions: [DiscoveryState.Action]) {
      while let request = state.nextRequest() { check(request) }
      for action in actions {
        switch action {
        case .tell(let ids, .resource(let result)):
          for id in ids { model.told[id] = (try? result.get()).flatMap(number) }
        case .tell(let ids, .ambient):
          for id in ids {
            check(model.told[id].flatMap(\.self) != nil, "an ambient failure of what is not known")
          }
        case .startTimer(let key, let timer, _):
          check(model.isConnected, "a timer runs without a connection")
          check(model.known[key] == nil, "a timer runs for what is known")
          check(!model.timers.values.contains(key), "two timers run for one resource")
          model.timers[timer] = key
        case .cancelTimer(let timer): model.timers[timer] = nil
        case .close:
          check(model.watches.isEmpty, "the stream is closed, and something is watched")
          (model.isOpen, model.isConnected, model.nonce, model.version) = (false, false, [:], [:])
        case .open, .log: break
        }
      }
      for (key, ids) in model.watches {
        for id in ids {
          check(
            (model.told[id] ?? nil) == model.known[key],
            "\(id) was told \(model.told[id] as Any) of \(key), which is \(model.known[key] as Any)"
          )
        }
      }
      var counts = ResourceCounts()
      for (key, record) in state.records { counts.move(key, from: nil, to: record) }
      check(
        counts.groups == state.counts?.groups.filter { $0.value != 0 },
        "\(counts.groups) are there, and \(state.counts?.groups as Any) are counted"
      )
      for key in model.timers.values {
        check(model.watches[key] != nil, "a timer runs for what nobody watches")
      }
    }
  }

  @Test(arguments: 0..<20) func randomLivesAgreeWithTheModel(_ block: Int) {
    for seed in 0..<100 {
      var life = Life(seed: UInt64(block * 100 + seed))
      for _ in 0..<60 where life.faults.isEmpty { life.step() }
      guard let fault = life.faults.first else { continue }
      Issue.record("seed \(block * 100 + seed): \(fault), after:\n\(life.steps.joined(separator: "\n"))")
      return
    }
  }
}

/// Random numbers that a seed repeats.
struct Dice {
  private var state: UInt64

  init(seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 &+ 1 }

  mutating func below(_ bound: Int) -> Int {
    state ^= state << 13
    state ^= state >> 7
    state ^= state << 17
    return Int(state % UInt64(bound))
  }
}
