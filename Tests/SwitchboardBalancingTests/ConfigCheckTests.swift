import SwitchboardBalancing
import SwitchboardCall
import TestSupport
import Testing

/// A check of a config reads it once, whatever is wrong with it: a file of a hundred kilobytes may have thousands of mistakes.
@Suite struct ConfigCheckTests {
  /// Counts how often it is read.
  private struct Counting: LoadBalancingPolicy {
    let reads = Counter()
    var name: String { "test.counting" }

    func readConfig(_ reader: ConfigReader, _: PolicyRegistry) throws(GRPCStatus) -> Int {
      reads.count.withLock { $0 += 1 }
      return try reader.count("number") ?? 0
    }

    func makeBalancer(_: any BalancerHost) -> Unused { Unused() }
  }

  private final class Counter: Sendable { let count = Locked(0) }

  private final class Unused: LoadBalancer {
    func update(_: [Endpoint], _: Int) {}
    func resolverFailed(_: GRPCStatus) {}
    func leaveIdle() {}
    func shutDown() {}
  }

  private func check(_ json: String, _ policy: Counting = Counting()) -> [ConfigFinding] {
    ServiceConfig.check(json: json, policies: PolicyRegistry([policy]))
  }

  private func targets(_ count: Int, _ child: (Int) -> String) -> String {
    let targets = (0..<count).map { "\"c\($0)\": \(child($0))" }.joined(separator: ",")
    return #"{"loadBalancingConfig": [{"weighted_target": {"targets": {\#(targets)}}}]}"#
  }

  /// Each mistake, in a child of its own, is followed by a policy that counts.
  @Test(arguments: [
    #"{"weight": 0, "childPolicy": [{"test.counting": {}}]}"#,
    #"{"weight": "x", "childPolicy": [{"test.counting": {}}]}"#,
    #"{"childPolicy": [{"test.counting": {}}]}"#,
    #"{"weight": 1, "childPolicy": [{"test.counting": {"number": -1}}]}"#,
    #"{"weight": 1, "childPolicy": [{"test.counting": {}}, 5]}"#,
    #"{"weight": 1, "childPolicy": [{"outlier_detection": {"interval": 1, "childPolicy": [{"test.counting": {}}]}}]}"#,
    #"{"weight": 1, "childPolicy": [{"random_subsetting": {"childPolicy": [{"test.counting": {}}]}}]}"#,
    #"{"weight": 1, "childPolicy": [{"priority": {"children": {"a": {"config": [{"test.counting": {}}]}}, "#
      + #""priorities": ["b", "a"]}}]}"#,
  ]) func eachPartIsReadOnce(_ child: String) {
    let policy = Counting()
    let found = check(targets(300) { _ in child }, policy)
    #expect(found.count == ConfigFinding.mostFound)
    #expect(found.allSatisfy { $0.position != nil })
    #expect(policy.reads.count.withLock { $0 } == 300)
  }

  /// Mistakes of policies around a large one, which is read before them.
  @Test func whatIsWithinMistakesIsReadOnce() {
    let policy = Counting()
    var config = #"{"test.counting": {}}"#
    for _ in 0..<15 {
      config =
        #"{"outlier_detection": {"childPolicy": [\#(config)], "interval": 1, "baseEjectionTime": 2, "maxEjectionTime": 3, "#
        + #""successRateEjection": {}}}"#
    }
    #expect(check(#"{"loadBalancingConfig": [\#(config)]}"#, policy).count == 45)
    #expect(policy.reads.count.withLock { $0 } == 1)
  }

  /// What was refused is not reported as unknown too, nor what it leads to.
  @Test func onlyMistakesAreFound() {
    for (json, wanted) in [
      (targets(1001) { _ in #"{"weight": 1}"# }, ["targets: has more than 1000 members"]),
      (
        #"{"loadBalancingConfig": [{"ring_hash": {"minRingSize": 5000, "maxRingSize": 10, "requestHashHeader": "a-bin"}}]}"#,
        [
          "minRingSize: is 5000: no ring is larger than 4096", "maxRingSize: is below minRingSize",
          "requestHashHeader: is not the name of a text header",
        ]
      ),
      (
        #"{"methodConfig": [{"name": [{"method": "a"}, {"method": "b"}], "hedgingPolicy": {"maxAttempts": 2, "hedgingDelay": "1s"}, "#
          + #""retryPolicy": {"nonsense": 5}}]}"#,
        [
          "name[0].method: a is named without its service", "name[1].method: b is named without its service",
          "retryPolicy: there is a hedgingPolicy too",
        ]
      ),
      (
        #"{"loadBalancingConfig": [{"random_subsetting": {"subset_size": 0, "childPolicy": []}}]}"#,
        ["subset_size: is not from 1 to 4294967295", "childPolicy: there is no policy"]
      ),
      (
        #"{"loadBalancingConfig": [{"priority": {"children": {"a": {"config": [{"pick_first": {}}]}}, "#
          + #""priorities": ["a", 5, "a", "b"]}}]}"#,
        [
          "priorities[1]: is not a string", "priorities[2]: the child is listed twice",
          "priorities[3]: no child has this name",
        ]
      ),
      (
        #"{"loadBalancingConfig": [{"a": {}, "b": {}}, {"pick_first": 5}]}"#,
        ["[0]: does not name exactly one policy", "pick_first: is not an object"]
      ),
    ] {
      let found = check(json).map(\.description)
      #expect(found.count == wanted.count, "\(found)")
      for (one, end) in zip(found, wanted) { #expect(one.hasSuffix(end), "\(found)") }
    }
  }

  @Test func policiesThatAreNestedTooDeeplyAreFound() {
    var config = #"{"pick_first": {}}"#
    for _ in 0..<20 {
      config =
        #"{"outlier_detection": {"childPolicy": [\#(config)], "interval": 1, "successRateEjection": {}}}"#
    }
    let found = check(#"{"loadBalancingConfig": [\#(config)]}"#)
    #expect(found.count { $0.reason == "policies are nested deeper than 16" } == 1)
    #expect(found.count == 17)
  }

  /// Each of these once took a time that grew as the square of its length, up to a hundred mistakes or without a limit.
  @Test(arguments: [
    "{\"loadBalancingConfig\": [?]}/{\"policy#\": {}}",
    "{\"methodConfig\": [?]}/{\"name\": [{\"service\": \"s#\"}], \"tim\": 1}",
    "{\"methodConfig\": [{\"name\": [?]}]}/{\"method\": \"m#\"}", "{?}/\"m#\": 1",
  ]) func manyMistakesTakeLinearTime(_ form: String) {
    let parts = form.split(separator: "/", maxSplits: 1).map(String.init)
    Growth.check(form, size: 250) { count in
      let items = (0..<count).map { parts[1].replacing("#", with: "\($0)") }
      return parts[0].replacing("?", with: items.joined(separator: ","))
    } _: { json in
      #expect(!check(json).isEmpty)
    }
  }
}
