import SwitchboardCall
import SwitchboardProtobuf
import SwitchboardText
import Testing
import XDSMessages

@testable import SwitchboardXDS

/// Which calls have a fault (gRFC A33), by rules and metadata.
@Suite struct FaultRuleTests {
  private typealias Fault = Envoy_Extensions_Filters_Http_Fault_V3_HTTPFault

  private func rule(_ change: (inout Fault) -> Void) throws(ResourceFault) -> FaultRule {
    guard let packed = try? Google_Protobuf_Any(message: Fault.with(change)) else {
      throw ResourceFault("", "cannot be packed")
    }
    return try FaultRule(packed)
  }

  private func reason(_ change: (inout Fault) -> Void) -> String? {
    do throws(ResourceFault) {
      _ = try rule(change)
      return nil
    } catch { return error.description }
  }

  /// The faults of a call: how long it waits, and how it ends.
  private func faults(
    _ rules: [FaultRule],
    _ metadata: HPACKHeaders = HPACKHeaders(),
    _ active: ActiveFaults = ActiveFaults()
  ) -> [String] {
    FaultInjector(rules: rules, dice: SharedDice(), active: active).faults(metadata).map {
      "\($0.delay) \($0.status.map { $0.code.specName } ?? "made")"
    }
  }

  private func always(_ abort: FaultRule.Abort?, _ delay: FaultRule.Delay? = nil) -> FaultRule {
    let share = FaultRule.Share(numerator: 100, scale: 10_000)
    return FaultRule(delay: delay, delayShare: share, abort: abort, abortShare: share)
  }

  @Test func rulesAreRead() throws {
    let read = try rule {
      $0.delay.fixedDelay.seconds = 2
      $0.delay.percentage.numerator = 20
      $0.abort.grpcStatus = 5
      ($0.abort.percentage.numerator, $0.abort.percentage.denominator) = (7, .million)
      $0.maxActiveFaults.value = 3
    }
    #expect(
      read
        == FaultRule(
          delay: .fixed(.seconds(2)),
          delayShare: .init(numerator: 20, scale: 10_000),
          abort: .code(.notFound),
          abortShare: .init(numerator: 7, scale: 1),
          mostActive: 3
        )
    )
    #expect(read.delayShare.millionths() == 200_000 && read.abortShare.millionths() == 7)
    for (status, code) in [(200, GRPCStatus.Code.unknown), (400, .internalError), (503, .unavailable)] {
      #expect(try rule { $0.abort.httpStatus = UInt32(status) }.abort == .code(code))
    }
    #expect(try rule { $0.abort.headerAbort = .init() }.abort == .ofMetadata)
    #expect(try rule { $0.delay.headerDelay = .init() }.delay == .ofMetadata)
    // Without a share, no call has it.
    #expect(try rule { $0.abort.grpcStatus = 5 }.isEmpty)
    #expect(try rule { $0.delay.fixedDelay.seconds = 315_576_000_000 }.delay == .fixed(.seconds(31_536_000)))
  }

  @Test func rulesThatMakeNoSenseAreRefused() {
    #expect(reason { $0.abort.grpcStatus = 17 } == "abort.grpc_status: is no status: 17")
    #expect(
      reason { $0.delay.fixedDelay.seconds = -1 } == "delay.fixed_delay: is not a duration of zero or more"
    )
    #expect(
      reason { $0.abort.percentage.denominator = .UNRECOGNIZED(9) }
        == "abort.percentage.denominator: is unknown"
    )
  }

  @Test func faultsAreThoseOfTheRules() {
    #expect(faults([always(.code(.aborted))]) == ["0.0 seconds ABORTED"])
    #expect(faults([always(nil, .fixed(.seconds(3)))]) == ["3.0 seconds made"])
    #expect(
      faults([always(.code(.ok), .fixed(.seconds(3))), always(.code(.notFound))])
        == ["3.0 seconds OK", "0.0 seconds NOT_FOUND"]
    )
    #expect(faults([always(nil)]) == [])
    var never = always(.code(.aborted))
    never.abortShare.numerator = 0
    #expect(faults([never]) == [])
  }

  @Test(
    arguments: [
      (["x-envoy-fault-abort-grpc-request": "5"], ["0.0 seconds NOT_FOUND"]),
      (["x-envoy-fault-abort-request": "401"], ["0.0 seconds UNAUTHENTICATED"]),
      (
        ["x-envoy-fault-abort-request": "401", "x-envoy-fault-abort-grpc-request": "5"],
        ["0.0 seconds NOT_FOUND"]
      ),
      (["x-envoy-fault-abort-grpc-request": "17"], []), (["x-envoy-fault-abort-grpc-request": "five"], []),
      (["x-envoy-fault-abort-grpc-request": "-1"], []), (["x-envoy-fault-abort-grpc-request": ""], []),
      (["x-envoy-fault-abort-grpc-request": "5", "x-envoy-fault-abort-request-percentage": "0"], []),
      // More than the rule has is not had, and what is no number does not count.
      (
        ["x-envoy-fault-abort-grpc-request": "5", "x-envoy-fault-abort-request-percentage": "1000"],
        ["0.0 seconds NOT_FOUND"]
      ),
      (
        ["x-envoy-fault-abort-grpc-request": "5", "x-envoy-fault-abort-request-percentage": "x"],
        ["0.0 seconds NOT_FOUND"]
      ),
      (["x-envoy-fault-delay-request": "1500"], ["1.5 seconds made"]),
      (["x-envoy-fault-delay-request": "1500", "x-envoy-fault-delay-request-percentage": "0"], []),
      (["x-envoy-fault-delay-request": "99999999999999999999"], []), ([:], []),
    ] as [([String: String], [String])]
  )
  func metadataMaySayIt(_ metadata: [String: String], _ expected: [String]) {
    let fields = HPACKHeaders(metadata.map { ($0.key, $0.value) })
    #expect(faults([always(.ofMetadata, .ofMetadata)], fields) == expected)
    // Rules that say it themselves do not ask for it.
    #expect(faults([always(.code(.aborted))], fields) == ["0.0 seconds ABORTED"])
  }

  @Test func noMoreFaultsAreActiveThanAllowed() throws {
    var rule = always(.code(.aborted))
    rule.mostActive = 2
    let injector = FaultInjector(rules: [rule], dice: SharedDice(), active: ActiveFaults())
    var first: [CallFault]? = injector.faults(HPACKHeaders())
    let second = injector.faults(HPACKHeaders())
    #expect(first?.count == 1 && second.count == 1 && injector.faults(HPACKHeaders()).isEmpty)
    // A call that ends before it has had its fault has none any more.
    first = nil
    let third = injector.faults(HPACKHeaders())
    #expect(third.count == 1 && injector.faults(HPACKHeaders()).isEmpty)
    withExtendedLifetime((second, third)) {}
    rule.mostActive = 0
    #expect(faults([rule]) == [])
  }

  /// Of a router, nothing can be changed for some calls, and no client reads a rule that is no message of its type.
  @Test func otherConfigurationsAreRefused() throws {
    func reason(_ config: some Message, isOptional: Bool) throws -> String? {
      let wrapper = try Envoy_Config_Route_V3_FilterConfig.with {
        ($0.config, $0.isOptional) = (try Google_Protobuf_Any(message: config), isOptional)
      }
      do throws(ResourceFault) {
        guard let packed = try? Google_Protobuf_Any(message: wrapper) else { return nil }
        _ = try HTTPFilters.overrides(["f": packed])
        return nil
      } catch { return error.description }
    }
    func structure(_ type: String) -> Xds_Type_V3_TypedStruct {
      .with { $0.typeURL = "type.googleapis.com/\(type)" }
    }
    let (router, fault) = (
      "envoy.extensions.filters.http.router.v3.Router", "envoy.extensions.filters.http.fault.v3.HTTPFault"
    )
    for isOptional in [false, true] {
      #expect(
        try reason(structure(router), isOptional: isOptional)
          == "typed_per_filter_config[f]: is a TypedStruct, and not of the type \(router)"
      )
      #expect(
        try reason(structure(fault), isOptional: isOptional)
          == "typed_per_filter_config[f]: is a TypedStruct, and not of the type \(fault)"
      )
      #expect(
        try reason(structure("other"), isOptional: isOptional)
          == (isOptional ? nil : "typed_per_filter_config[f]: the type other is not supported")
      )
    }
  }
}
