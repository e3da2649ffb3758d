import SwitchboardCall
import SwitchboardText
import Synchronization

/// Decides about the faults of calls with the same route (gRFC A33).
struct FaultInjector: Sendable {
  let rules: [FaultRule]
  let dice: SharedDice
  let active: ActiveFaults

  init(rules: [FaultRule], dice: SharedDice, active: ActiveFaults = .ofProcess) {
    self.rules = rules
    self.dice = dice
    self.active = active
  }

  /// Of the rules of `overrides` for a filter, the first counts.
  init(_ filters: [FaultFilter], _ overrides: [[ExactText: FaultRule]], _ dice: SharedDice) {
    let rules = filters.map { filter in overrides.lazy.compactMap { $0[filter.name] }.first ?? filter.rule }
    self.init(rules: rules.filter { !$0.isEmpty }, dice: dice)
  }

  /// `nil` if no call has a fault.
  var function: (@Sendable (HPACKHeaders) -> [CallFault])? {
    if rules.isEmpty { return nil }
    return { faults($0) }
  }

  /// The faults of a call, in the order in which it meets them.
  func faults(_ metadata: HPACKHeaders) -> [CallFault] { rules.compactMap { fault($0, metadata) } }

  /// Whether a call is delayed and whether it fails are two rolls.
  private func fault(_ rule: FaultRule, _ metadata: HPACKHeaders) -> CallFault? {
    let (delay, code) = (self.delay(rule, metadata), self.code(rule, metadata))
    guard delay > .zero || code != nil, active.begin(most: rule.mostActive) else { return nil }
    return CallFault(delay: delay, status: code.map { .fault($0) }) { [active] in active.end() }
  }

  private func delay(_ rule: FaultRule, _ metadata: HPACKHeaders) -> Duration {
    switch rule.delay {
    case nil: return .zero
    case .fixed(let delay): return hits(rule.delayShare.millionths()) ? delay : .zero
    case .ofMetadata:
      guard let length = metadata.number("x-envoy-fault-delay-request") else { return .zero }
      let share = rule.delayShare.millionths(metadata.number("x-envoy-fault-delay-request-percentage"))
      return hits(share) ? .milliseconds(length) : .zero
    }
  }

  private func code(_ rule: FaultRule, _ metadata: HPACKHeaders) -> GRPCStatus.Code? {
    switch rule.abort {
    case nil: return nil
    case .code(let code): return hits(rule.abortShare.millionths()) ? code : nil
    case .ofMetadata:
      let own = metadata.number("x-envoy-fault-abort-grpc-request").flatMap { GRPCStatus.Code(rawValue: $0) }
      let ofHTTP = metadata.number("x-envoy-fault-abort-request").map { GRPCStatus.Code(httpStatus: $0) }
      guard let code = own ?? ofHTTP else { return nil }
      let share = rule.abortShare.millionths(metadata.number("x-envoy-fault-abort-request-percentage"))
      return hits(share) ? code : nil
    }
  }

  private func hits(_ millionths: Int) -> Bool { millionths > 0 && dice.next(below: 1_000_000) < millionths }
}

/// Counts the calls that have a fault now.
final class ActiveFaults: Sendable {
  static let ofProcess = ActiveFaults()

  private let count = Atomic(0)

  init() {}

  /// Counts one more, unless that were too many.
  func begin(most: Int?) -> Bool {
    guard count.add(1, ordering: .relaxed).newValue > most ?? .max else { return true }
    end()
    return false
  }

  func end() { count.subtract(1, ordering: .relaxed) }
}

extension HPACKHeaders {
  /// A field that is a number of up to nine digits; `nil` for any other.
  fileprivate func number(_ name: String) -> Int? {
    guard let text = first(name: name), text.utf8.count <= 9, text.utf8.allSatisfy({ 48...57 ~= $0 }) else {
      return nil
    }
    return Int(text)
  }
}

extension GRPCStatus {
  fileprivate static func fault(_ code: Code) -> GRPCStatus {
    code == .ok
      ? .ok : GRPCStatus(code: code, message: "the control plane has the call fail", origin: .library)
  }
}
