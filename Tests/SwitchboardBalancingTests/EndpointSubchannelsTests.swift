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
