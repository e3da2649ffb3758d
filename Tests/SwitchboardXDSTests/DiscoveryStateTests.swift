import SwitchboardCall
import SwitchboardText
import Testing
import XDSMessages

@testable import SwitchboardXDS

/// The protocol, as a dialogue.
@Suite struct DiscoveryStateTests {
  private let key = ResourceKey(.cluster, "c")
  private let fault = ResourceFault("lb_policy", "RANDOM is not supported")

  private func cluster(_ number: Int) -> Resource {
    .cluster(ClusterResource(name: "c", kind: .endpoints("e\(number)"), policy: .whole([])))
  }

  private func read(_ name: String, _ number: Int) -> ResourceReader.Read {
    ResourceReader.Read(name: name, result: .success(cluster(number)))
  }

  private func refused(_ name: String?) -> ResourceReader.Read {
    ResourceReader.Read(name: name, result: .failure(fault))
  }

  private func error(
    _ name: String,
    _ code: GRPCStatus.Code = .notFound
  ) -> Result<ResourceError, ResourceFault> {
    .success(ResourceError(name: name, code: code, message: "not today"))
  }

  private func request(_ names: [String], _ version: String, _ nonce: String, isFirst: Bool = false) -> String
  {
    "send cluster \(names) \"\(version)\" \"\(nonce)\"\(isFirst ? " first" : "")"
  }

  @Test func askingAndAccepting() {
    let state = Dialogue()
    #expect(state.watch(key, 1) == [])
    #expect(state.opened() == [request(["c"], "", "", isFirst: true)])
    #expect(state.connected() == ["timer 1 of cluster c: 15.0 seconds"])
    #expect(
      state.received(.cluster, version: "7", nonce: "n", [read("c", 1), read("unasked", 2)]) == [
        "cancel 1", "tell [1] e1", request(["c"], "7", "n"),
      ]
    )
    // A second watch learns of it at once, and asks for nothing.
    #expect(state.watch(key, 2) == ["tell [2] e1"])
    #expect(
      state.watch(ResourceKey(.cluster, "b"), 3) == [
        "timer 2 of cluster b: 15.0 seconds", request(["b", "c"], "7", "n"),
      ]
    )
    // The same once more is accepted, and nobody is told.
    #expect(
      state.received(.cluster, version: "8", nonce: "o", [read("c", 1)]) == [request(["b", "c"], "8", "o")]
    )
    #expect(state.unwatch(key, 1) == [])
    #expect(state.unwatch(key, 2) == [request(["b"], "8", "o")])
    // Nothing is watched any more, so nobody is asked.
    #expect(state.unwatch(ResourceKey(.cluster, "b"), 3) == ["cancel 2", "close 0"])
  }

  @Test func refusingWithAllReasons() {
    let state = Dialogue()
    _ = state.opened()
    _ = state.watch(key, 1)
    _ = state.watch(ResourceKey(.cluster, "d"), 2)
    _ = state.received(.cluster, version: "1", nonce: "m", [read("c", 1)])
    let actions = state.received(
      .cluster,
      version: "2",
      nonce: "n",
      [refused("c"), read("d", 5), refused(nil)]
    )
    let reason = "c: lb_policy: RANDOM is not supported; resource 2: lb_policy: RANDOM is not supported"
    #expect(
      actions.filter { !$0.begins(with: "log") } == [
        "ambient [1] the cluster c is invalid: lb_policy: RANDOM is not supported",
        "cancel 1", "tell [2] e5",
        "\(request(["c", "d"], "1", "n")) because \(reason)",
      ]
    )
    #expect(state.resource(key) == cluster(1))
    // A valid one, although the same as before, ends the trouble.
    #expect(
      state.received(.cluster, version: "3", nonce: "o", [read("c", 1), read("d", 5)]).first
        == "ambient [1] nothing"
    )
  }

  @Test func whatCannotBeUsedAnyMoreIsDroppedIfFaultsCount() {
    let state = Dialogue(features: [.failOnDataErrors])
    _ = state.opened()
    _ = state.watch(key, 1)
    _ = state.received(.cluster, version: "1", nonce: "m", [read("c", 1)])
    let actions = state.received(.cluster, version: "2", nonce: "n", [])
    #expect(actions.contains("fail [1] there is no cluster c"))
    #expect(state.resource(key) == nil)
  }

  @Test func whatIsDeletedIsStillUsedOtherwise() {
    let state = Dialogue()
    _ = state.opened()
    _ = state.watch(key, 1)
    _ = state.received(.cluster, version: "1", nonce: "m", [read("c", 1)])
    let deleted = state.received(.cluster, version: "2", nonce: "n", [])
    #expect(deleted.contains("ambient [1] there is no cluster c"))
    #expect(deleted.contains("log cluster c was deleted, and is still used"))
    #expect(state.received(.cluster, version: "3", nonce: "o", []) == [request(["c"], "3", "o")])
    #expect(
      state.received(.cluster, version: "4", nonce: "p", [read("c", 1)]).contains(
        "log cluster c is there again"
      )
    )
    // Endpoints and routes that a response lacks are not gone.
    _ = state.watch(ResourceKey(.endpoints, "e"), 2)
    #expect(state.received(.endpoints, version: "1", nonce: "q", []).count == 1)
  }

  /// An error takes the place of a resource that is waited for. It is accepted, and counts until something else is said.
  @Test func anErrorSaysWhyAResourceDoesNotCome() {
    let state = Dialogue()
    let text = "the control plane does not send the cluster c: UNAVAILABLE: not today"
    _ = state.opened()
    _ = state.watch(key, 1)
    _ = state.connected()
    #expect(
      state.received(.cluster, version: "1", nonce: "m", [], [error("c", .unavailable), error("other")]) == [
        "cancel 1", "fail [1] \(text)", "log \(text)", request(["c"], "1", "m"),
      ]
    )
    #expect(state.watch(key, 2) == ["fail [2] \(text)"])
    #expect(state.received(.cluster, version: "2", nonce: "n", []) == [request(["c"], "2", "n")])
    #expect(
      state.received(.cluster, version: "2", nonce: "o", [read("c", 1)]) == [
        "tell [1, 2] e1", request(["c"], "2", "o"),
      ]
    )
  }

  /// What is known is still used, unless the error is one of data, and the control plane tells nobody else.
  @Test(
    arguments: [
      (.notFound, true), (.permissionDenied, true), (.unavailable, false), (.internalError, false),
      (.unknown, false), (.resourceExhausted, false),
    ] as [(GRPCStatus.Code, Bool)],
    [[], [XDSBootstrap.Feature.failOnDataErrors]]
  )
  func anErrorOfWhatIsKnown(_ code: (GRPCStatus.Code, isOfData: Bool), _ features: [XDSBootstrap.Feature]) {
    let state = Dialogue(features: Set(features))
    let drops = code.isOfData && !features.isEmpty
    let text = "the control plane does not send the cluster c: \(code.0.specName): not today"
    _ = state.opened()
    _ = state.watch(key, 1)
    _ = state.received(.cluster, version: "1", nonce: "m", [read("c", 1)])
    #expect(
      state.received(.cluster, version: "2", nonce: "n", [], [error("c", code.0)]) == [
        "\(drops ? "fail" : "ambient") [1] \(text)",
        "log \(text); it is \(drops ? "not used any more" : "still used")",
        request(["c"], "2", "n"),
      ]
    )
    #expect(state.resource(key) == (drops ? nil : cluster(1)))
    // That it is still not sent is no deletion, and said once.
    #expect(state.received(.cluster, version: "3", nonce: "o", []) == [request(["c"], "3", "o")])
    #expect(state.received(.cluster, version: "3", nonce: "p", [], [error("c", code.0)]).count == 2)
    #expect(
      state.received(.cluster, version: "4", nonce: "q", [read("c", 1)]) == [
        drops ? "tell [1] e1" : "ambient [1] nothing", request(["c"], "4", "q"),
      ]
    )
  }

  @Test func anErrorThatSaysNothingIsRefused() {
    let state = Dialogue()
    _ = state.opened()
    _ = state.watch(key, 1)
    let reader = ResourceReader()
    let errors = reader.read([
      .with { $0.errorDetail.code = 5 }, .with { $0.resourceName.name = "c" },
      .with { ($0.resourceName.name, $0.errorDetail.code) = ("d", 99) },
    ])
    #expect(errors[2] == .success(ResourceError(name: "d", code: .unknown, message: "")))
    #expect(
      state.received(.cluster, version: "1", nonce: "m", [read("c", 1)], errors) == [
        "tell [1] e1",
        "log refused of version 1: resource_errors[0]: resource_name.name: is empty; "
          + "resource_errors[1]: error_detail.code: is missing, or no failure",
        request(["c"], "", "m") + " because resource_errors[0]: resource_name.name: is empty; "
          + "resource_errors[1]: error_detail.code: is missing, or no failure",
      ]
    )
  }

  @Test func aResourceThatDoesNotComeIsMissing() {
    let state = Dialogue()
    _ = state.opened()
    _ = state.watch(key, 1)
    _ = state.connected()
    #expect(state.timeIsUp(key, 1) == ["fail [1] there is no cluster c"])
    #expect(state.timeIsUp(key, 1) == [])
    #expect(state.watch(key, 2) == ["fail [2] there is no cluster c"])
    let patient = Dialogue(features: [.resourceTimerIsTransientError])
    _ = patient.watch(key, 1)
    _ = patient.opened()
    #expect(patient.connected() == ["timer 1 of cluster c: 30.0 seconds"])
    #expect(patient.timeIsUp(key, 1) == ["fail [1] the control plane has not sent the cluster c yet"])
  }

  @Test func aLostStreamIsWorthAWordOnlyIfItNeverServed() {
    let lost = GRPCStatus(code: .unavailable, message: "refused")
    let state = Dialogue()
    _ = state.watch(key, 1)
    _ = state.opened()
    _ = state.connected()
    #expect(state.ended(lost) == ["cancel 1", "fail [1] the control plane cp cannot be asked: refused"])
    #expect(state.opened() == [request(["c"], "", "", isFirst: true)])
    #expect(state.connected() == ["timer 2 of cluster c: 15.0 seconds"])
    _ = state.received(.cluster, version: "1", nonce: "m", [read("c", 1)])
    #expect(state.ended(lost) == [])
    // The version is kept, and the nonce is not.
    #expect(state.opened() == [request(["c"], "1", "", isFirst: true)])
    #expect(state.ended(lost) == ["ambient [1] the control plane cp cannot be asked: refused"])
    #expect(
      state.watch(key, 2) == ["tell [2] e1", "ambient [2] the control plane cp cannot be asked: refused"]
    )
    // Who asks for more learns at once that nobody answers, and is told when somebody does.
    let other = ResourceKey(.cluster, "d")
    #expect(state.watch(other, 3) == ["fail [3] the control plane cp cannot be asked: refused"])
    _ = state.opened()
    #expect(state.connected() == ["timer 3 of cluster d: 15.0 seconds"])
  }

  @Test func manyChangesMakeOneRequest() {
    var state = DiscoveryState()
    state.opened()
    for number in 0..<1000 { _ = state.watch(ResourceKey(.cluster, "\(number)"), number) }
    #expect(state.nextRequest()?.names.count == 1000)
    #expect(state.nextRequest() == nil)
    // The latest response is answered, with its reasons.
    _ = state.received(.cluster, version: "1", nonce: "m", [refused("1")])
    _ = state.received(.cluster, version: "2", nonce: "n", [read("1", 1)])
    let answer = state.nextRequest()
    #expect(answer?.nonce == "n" && answer?.refusal == nil && answer?.version == "2")
  }

  @Test func aRefusalIsNeverLong() throws {
    let state = Dialogue()
    _ = state.opened()
    _ = state.watch(key, 1)
    let reads = (0..<10_000).map { refused("cluster \($0)") }
    let last = try #require(state.received(.cluster, version: "1", nonce: "m", reads).last)
    #expect(last.utf8.count < 5000)
  }
}

/// The state with a stream that takes each request at once: what each event leads to, as text.
private final class Dialogue {
  private var state: DiscoveryState

  init(features: Set<XDSBootstrap.Feature> = []) { state = DiscoveryState(features: features) }

  private func all(_ actions: [DiscoveryState.Action]) -> [String] {
    var texts = actions.map(\.text)
    while let request = state.nextRequest() { texts.append(request.text) }
    return texts
  }

  func watch(_ key: ResourceKey, _ id: Int) -> [String] { all(state.watch(key, id)) }
  func unwatch(_ key: ResourceKey, _ id: Int) -> [String] { all(state.unwatch(key, id)) }
  func connected() -> [String] { all(state.connected()) }
  func ended(_ status: GRPCStatus) -> [String] { all(state.ended(status)) }
  func timeIsUp(_ key: ResourceKey, _ timer: Int) -> [String] { all(state.timeIsUp(key, timer)) }

  func opened() -> [String] {
    state.opened()
    return all([])
  }

  func received(
    _ type: ResourceType,
    version: String,
    nonce: String,
    _ reads: [ResourceReader.Read],
    _ errors: [Result<ResourceError, ResourceFault>] = []
  ) -> [String] { all(state.received(type, version: version, nonce: nonce, reads, errors)) }

  func resource(_ key: ResourceKey) -> Resource? { state.resource(key) }
}

extension DiscoveryRequest {
  fileprivate var text: String {
    let end = (isFirst ? " first" : "") + (refusal.map { " because \($0)" } ?? "")
    return "send \(type.noun) \(names) \"\(version)\" \"\(nonce)\"\(end)"
  }
}

extension DiscoveryState.Action {
  var text: String {
    switch self {
    case .tell(let watches, .resource(.success(let resource))): "tell \(watches) \(resource.label)"
    case .tell(let watches, .resource(.failure(let status))): "fail \(watches) \(status.message ?? "")"
    case .tell(let watches, .ambient(let status)): "ambient \(watches) \(status?.message ?? "nothing")"
    case .startTimer(let key, let timer, let delay): "timer \(timer) of \(key): \(delay)"
    case .cancelTimer(let timer): "cancel \(timer)"
    case .open(let server): "open \(server)"
    case .close(let server): "close \(server)"
    case .log(_, _, let message): "log \(message)"
    }
  }
}

extension Resource {
  var label: String {
    switch self {
    case .cluster(let cluster): if case .endpoints(let name) = cluster.kind { name } else { "aggregate" }
    case .listener, .routes, .endpoints: "other"
    }
  }
}
