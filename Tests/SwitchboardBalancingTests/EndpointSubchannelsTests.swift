import SwitchboardCall
import Testing

@testable import SwitchboardBalancing

/// Random updates and changes of state, against a model that counts anew each time.
@Suite
struct EndpointSubchannelsTests {
  @Test(arguments: UInt64(0)..<40)
  func agreesWithAModel(_ seed: UInt64) throws {
    var random = QuickRandom(seed: seed)
    let host = FakeHost()
    defer { host.end() }
    let endpoints = EndpointSubchannels(host, .init {})
    var model: [Int: ConnectivityState] = [:]
    for step in 0..<400 {
      if step == 0 || random.next(below: 10) == 0 {
        let numbers = (0..<random.next(below: 12)).map { _ in random.next(below: 10) }
        endpoints.update(numbers.map { .number($0) })
        let present = Set(numbers)
        model = model.filter { present.contains($0.key) }
        for number in present where model[number] == nil { model[number] = .idle }
      } else if let subchannel = host.open.randomElement(using: &random) {
        let number = try #require(subchannel.addresses[0].number)
        let states: [ConnectivityState] = [.idle, .connecting, .ready, .transientFailure]
        let state = states[random.next(below: 4)]
        subchannel.set(state, state == .transientFailure ? GRPCStatus(code: .unavailable) : nil)
        if model[number] != .transientFailure || state == .ready { model[number] = state }
      }
      try check(endpoints, host, model)
    }
    endpoints.shutDown()
    #expect(host.open.isEmpty)
    #expect(endpoints.ready.isEmpty)
  }

  private func check(
    _ endpoints: EndpointSubchannels,
    _ host: FakeHost,
    _ model: [Int: ConnectivityState]
  ) throws {
    let members = endpoints.members.map { ($0.endpoint.addresses[0].number ?? -1, $0.state) }
    #expect(Dictionary(uniqueKeysWithValues: members) == model)
    let ready = endpoints.ready.compactMap { $0.endpoint.addresses[0].number }
    #expect(ready.count == Set(ready).count)
    #expect(Set(ready) == Set(model.filter { $0.value == .ready }.keys))
    #expect(host.open.count == model.count)
    for (state, count) in [
      (ConnectivityState.idle, endpoints.counts.idle), (.connecting, endpoints.counts.connecting),
      (.ready, endpoints.counts.ready), (.transientFailure, endpoints.counts.transientFailure),
    ] {
      #expect(count == model.values.count { $0 == state })
    }
  }

  /// Updates that resemble each other, with attributes that endpoints share or that are equal, and endpoints that occur twice.
  @Test(arguments: UInt64(0)..<40)
  func anUpdateKeepsWhatItDoesNotChange(_ seed: UInt64) throws {
    var random = QuickRandom(seed: seed)
    let host = FakeHost()
    defer { host.end() }
    let endpoints = EndpointSubchannels(host, .init {})
    func attributes(_ kind: Int) -> EndpointAttributes {
      var attributes = EndpointAttributes()
      if kind > 0 { attributes[EndpointLocality.self] = kind == 3 ? "b" : "a" }
      attributes[EndpointWeight.self] = UInt32(1 + kind)
      return attributes
    }
    let shared = (0..<4).map(attributes)
    var kinds = (0..<8).map { (number: $0, kind: 0) }
    var before: [Int: (subchannel: any Subchannel, label: String?)] = [:]
    for _ in 0..<200 {
      let place = random.next(below: kinds.count + 1)
      let kind = random.next(below: 4)
      switch random.next(below: 4) {
      case 0 where place < kinds.count: kinds.remove(at: place)
      case 1 where kinds.count < 16: kinds.insert((random.next(below: 10), kind), at: place)
      case 2 where place < kinds.count: kinds[place].kind = kind
      default: break
      }
      let areShared = random.next(below: 2) == 0
      let update = kinds.map {
        Endpoint([.number($0.number)], attributes: areShared ? shared[$0.kind] : attributes($0.kind))
      }
      endpoints.update(update)
      var weights: [(number: Int, weight: UInt64)] = []
      var labels: [Int: String?] = [:]
      for (number, kind) in kinds {
        if let index = weights.firstIndex(where: { $0.number == number }) {
          weights[index].weight += UInt64(1 + kind)
        } else {
          weights.append((number, UInt64(1 + kind)))
          labels[number] = .some(shared[kind][EndpointLocality.self])
        }
      }
      #expect(endpoints.members.map { $0.endpoint.addresses[0].number } == weights.map(\.number))
      #expect(endpoints.members.map(\.weight) == weights.map(\.weight))
      var now: [Int: (subchannel: any Subchannel, label: String?)] = [:]
      for member in endpoints.members {
        let number = try #require(member.endpoint.addresses[0].number)
        let label = labels[number] ?? nil
        if let known = before[number] {
          #expect((known.subchannel === member.subchannel) == (known.label == label))
        }
        now[number] = (member.subchannel, label)
      }
      #expect(host.open.count == now.count)
      before = now
    }
  }

  @Test
  func reportsOfADroppedSubchannelAreIgnored() throws {
    let host = FakeHost()
    defer { host.end() }
    var changes = 0
    let endpoints = EndpointSubchannels(host, .init { changes += 1 })
    endpoints.update(.numbers(0..<2))
    let gone = try host[0]
    endpoints.update(.numbers(1..<2))
    gone.set(.ready)
    gone.report(LoadReport())
    #expect(changes == 0)
    #expect(endpoints.ready.isEmpty)
  }

  @Test
  func weightsOfDuplicateEndpointsAddUp() {
    let host = FakeHost()
    defer { host.end() }
    let endpoints = EndpointSubchannels(host, .init {})
    endpoints.update([.number(0, weight: 3), .number(1), .number(0), .number(0, weight: .max)])
    #expect(endpoints.members.map(\.weight) == [4 + UInt64(UInt32.max), 1])
    #expect(host.open.count == 2)
  }
}
