import EchoService
import Foundation
import Switchboard
import SwitchboardCall
import SwitchboardInterceptors
import Testing

@testable import SwitchboardTelemetry

/// A pair of optional products, and what holds where they meet.
struct Seam: Sendable, CustomTestStringConvertible {
  let pair: String
  let setup: @Sendable (SeamStage) throws -> SeamStage.Setup
  let check: @Sendable (SeamStage) throws -> Void

  init(
    _ pair: String,
    _ setup: @escaping @Sendable (SeamStage) throws -> SeamStage.Setup,
    _ check: @escaping @Sendable (SeamStage) throws -> Void
  ) {
    self.pair = pair
    self.setup = setup
    self.check = check
  }

  var testDescription: String { pair }

  static let cacheable = CallOptions.with { $0.safety = .cacheableRequest }
}

/// What each pair of optional products sees of each other: the table in docs/guide/Interceptors.md, cell by cell.
@Suite(.timeLimit(.minutes(5))) struct SeamTests {
  static let seams: [Seam] = [Seam.ofCache, Seam.ofContext, Seam.ofAttempts, Seam.ofOthers].flatMap { $0 }

  @Test(arguments: seams) func aCellHolds(_ seam: Seam) async throws {
    let stage = SeamStage()
    try await stage.play(try seam.setup(stage))
    try seam.check(stage)
  }

  /// The table has these cells, and each pair has one.
  @Test func theTableIsWhole() throws {
    let products = [
      "cache", "inherited context", "retries", "hedging", "tokens", "telemetry", "interceptors of parts",
      "interceptors of whole calls",
    ]
    let pairs = products.indices.flatMap { index in
      products[(index + 1)...].map { "\(products[index]) × \($0)" }
    }
    #expect(Self.seams.map(\.pair) == pairs)
    let page = URL(filePath: #filePath).appending(path: "../../../../docs/guide/Interceptors.md").standardized
    let text = try String(contentsOf: page, encoding: .utf8)
    let rows = text.split(separator: "\n").filter { $0.hasPrefix("| ") && $0.contains(" × ") }
    #expect(rows.map { $0.dropFirst(2).components(separatedBy: " | ").first ?? "" } == pairs)
  }
}

private final class CountedTokens: AuthTokenProvider {
  private let count = Locked(0)

  func token() async throws -> String? {
    count.withLock { count in
      count += 1
      return "token \(count)"
    }
  }
}

private struct FailingTokens: AuthTokenProvider {
  func token() async throws -> String? { throw GRPCStatus(code: .unauthenticated) }
}

private func countedTokens() -> AccessTokens {
  let tokens = CountedTokens()
  return AccessTokens { AccessToken(try await tokens.token() ?? "") }
}

extension Seam {
  typealias Setup = SeamStage.Setup

  // MARK: The cache

  fileprivate static let ofCache: [Seam] = [
    Seam("cache × inherited context") { _ in
      Setup(
        propagation: [.metadata("x-user"), .baggage],
        options: cacheable,
        interceptors: [try ResponseCache()],
        users: ["ada", "grace", "ada"]
      )
    } _: { stage in
      #expect(stage.arrived("x-user") == ["ada", "grace"])
      #expect(stage.codes == [.ok, .ok, .ok])
    },
    Seam("cache × retries") { _ in
      Setup(
        config: SeamStage.retries,
        options: cacheable,
        interceptors: [try ResponseCache()],
        failures: [.unavailable, .unavailable, .unavailable, .unavailable],
        users: ["ada", "ada", "ada"]
      )
    } _: { stage in
      // Three attempts fail, the next call has its answer with the second, and the third needs none.
      #expect(stage.arrivals.count == 5)
      #expect(stage.codes == [.unavailable, .ok, .ok])
    },
    Seam("cache × hedging") { _ in
      Setup(
        config: SeamStage.hedging,
        options: cacheable,
        interceptors: [try ResponseCache()],
        failures: [.unavailable],
        users: ["ada", "ada"]
      )
    } _: { stage in
      #expect(stage.arrivals.count == 2)
      #expect(stage.codes == [.ok, .ok])
    },
    Seam("cache × tokens") { _ in
      // The token of a provider is not known where the key is made.
      var options = cacheable
      options.authTokenProvider = CountedTokens()
      return Setup(options: options, interceptors: [try ResponseCache()], users: ["ada", "ada"])
    } _: { stage in
      #expect(stage.arrived("authorization") == ["Bearer token 1", "Bearer token 2"])
      #expect(stage.codes == [.ok, .ok])
    },
    Seam("cache × telemetry") { _ in
      Setup(options: cacheable, interceptors: [try ResponseCache()], users: ["ada", "ada"])
    } _: { stage in
      #expect(stage.spans.calls.count == 1)
      #expect(stage.metric("grpc_client_call_duration_seconds_count") == "1")
    },
    Seam("cache × interceptors of parts") { stage in
      let above = NotingParts(stage: stage, name: "above") { $0.replaceOrAdd(name: "lang", value: "de") }
      return Setup(
        options: cacheable,
        interceptors: [
          above, try ResponseCache(), NotingParts(stage: stage, name: "below"),
        ],
        users: ["ada", "grace"]
      )
    } _: { stage in
      #expect(stage.notes == ["above>", "below>", "below< OK", "above< OK", "above>", "above< OK"])
    },
    Seam("cache × interceptors of whole calls") { stage in
      let count = Locked(0)
      let change: @Sendable (inout HPACKHeaders) -> Void = { headers in
        let number = count.withLock { count in
          count += 1
          return count
        }
        headers.replaceOrAdd(name: "lang", value: number == 2 ? "fr" : "de")
      }
      let above = NotingCalls(stage: stage, name: "above", change: change)
      return Setup(
        options: cacheable,
        interceptors: [
          above, try ResponseCache(), NotingCalls(stage: stage, name: "below"),
        ],
        users: ["ada", "ada", "ada"]
      )
    } _: { stage in
      #expect(stage.notes == ["above>", "below>", "above>", "below>", "above>"])
      #expect(stage.arrived("lang") == ["de", "fr"])
    },
  ]

  // MARK: The inherited context

  private static let everything: ContextPropagation = [
    .deadline, .cancellation, .baggage, .metadata("x-user", "authorization"),
  ]

  private static let inherits: @Sendable (SeamStage) -> Void = { stage in
    #expect(stage.arrived("x-user") == ["ada", "ada"])
    #expect(stage.arrivals.allSatisfy { $0.hasDeadline && $0.baggage["tenant"] == "ada" })
    #expect(stage.arrivals.map { $0.trace?.description } == [SeamStage.trace, SeamStage.trace])
    #expect(stage.arrived("grpc-previous-rpc-attempts") == ["none", "1"])
  }

  fileprivate static let ofContext: [Seam] = [
    Seam("inherited context × retries") { _ in
      Setup(propagation: everything, config: SeamStage.retries, failures: [.unavailable])
    } _: { stage in
      inherits(stage)
    },
    Seam("inherited context × hedging") { _ in
      Setup(propagation: everything, config: SeamStage.hedging, failures: [.unavailable])
    } _: { stage in
      inherits(stage)
    },
    Seam("inherited context × tokens") { stage in
      // What obtains a token inherits nothing: the token is for the calls of others too.
      let tokens = AccessTokens {
        try await stage.callPlainly("for a token")
        return AccessToken("shared")
      }
      return Setup(
        propagation: everything,
        interceptors: [AccessTokenInterceptors(tokens)],
        users: ["ada", "grace"]
      )
    } _: { stage in
      #expect(stage.arrivals.map(\.text) == ["for a token", "same", "same"])
      #expect(stage.arrived("authorization") == ["none", "Bearer shared", "Bearer shared"])
      #expect(stage.arrived("x-user") == ["none", "ada", "grace"])
      #expect(stage.arrivals.map(\.hasDeadline) == [false, true, true])
      #expect(stage.arrivals.first?.baggage.isEmpty == true)
    },
    Seam("inherited context × telemetry") { stage in
      Setup(propagation: everything, interceptors: [NotingParts(stage: stage)])
    } _: { stage in
      #expect(stage.arrivals.map { $0.trace?.description } == [SeamStage.trace])
      #expect(stage.arrivals.map { $0.baggage["tenant"] } == ["ada"])
      #expect(stage.spans.calls.map(\.context.traceID.description) == [SeamStage.trace])
    },
    Seam("inherited context × interceptors of parts") { stage in
      // The channel's interceptor sees what the first server's has made of it, and may remove it again.
      let clean = NotingParts(stage: stage, name: "server", fields: ["x-user"]) { headers in
        headers.replaceOrAdd(name: "x-user", value: "clean")
        headers.remove(name: "baggage")
      }
      let fields = ["x-user", "authorization", "baggage"]
      let drop = NotingParts(stage: stage, name: "client", fields: fields, timeout: .seconds(100_000)) {
        $0.remove(name: "authorization")
      }
      return Setup(propagation: everything, interceptors: [drop], serverInterceptors: [clean])
    } _: { stage in
      #expect(
        stage.notes == ["server> ada", "client> clean ada none", "client has a deadline", "client< OK"]
      )
      #expect(stage.arrived("x-user") == ["clean"])
      #expect(stage.arrived("authorization") == ["none"])
      #expect(stage.arrivals.allSatisfy { $0.baggage.isEmpty })
      // A longer timeout than the caller has changes nothing.
      let latest = ContinuousClock.now + .seconds(1000)
      #expect(stage.arrivals.allSatisfy { $0.deadline.map { $0 < latest } ?? false })
    },
    Seam("inherited context × interceptors of whole calls") { stage in
      // The calls that interceptors make inherit too, on both sides: on the server, before the metadata is changed.
      let clean = NotingCalls(stage: stage, name: "server", fields: ["x-user"]) {
        try await stage.callPlainly("of the server's")
      } change: { headers in
        headers.replaceOrAdd(name: "x-user", value: "clean")
      }
      let look = NotingCalls(stage: stage, name: "client", fields: ["x-user"]) {
        try await stage.callPlainly("of the client's")
      }
      return Setup(propagation: everything, interceptors: [look], serverInterceptors: [clean])
    } _: { stage in
      #expect(stage.notes == ["server> ada", "client> clean"])
      #expect(stage.arrivals.map(\.text) == ["of the server's", "of the client's", "same"])
      #expect(stage.arrived("x-user") == ["ada", "clean", "clean"])
      #expect(stage.arrivals.allSatisfy { $0.hasDeadline && $0.trace?.description == SeamStage.trace })
    },
  ]

  // MARK: Retries and hedging

  /// An interceptor on each side of nothing, which see one call.
  private static let seesOneCall: @Sendable (SeamStage) -> Void = { stage in
    #expect(stage.arrivals.count == 2)
    #expect(stage.notes == ["parts>", "parts< OK"] || stage.notes == ["call>"])
    #expect(stage.codes == [.ok])
  }

  private static func attempts(_ policy: String) -> [Seam] {
    let metric = policy == "retries" ? "grpc_client_call_retries_sum" : "grpc_client_call_hedges_sum"
    let config = policy == "retries" ? SeamStage.retries : SeamStage.hedging
    return [
      Seam("\(policy) × tokens") { _ in
        Setup(
          config: config,
          options: .with { $0.authTokenProvider = CountedTokens() },
          failures: [.unavailable]
        )
      } _: { stage in
        #expect(stage.arrived("authorization") == ["Bearer token 1", "Bearer token 2"])
        #expect(stage.codes == [.ok])
      },
      Seam("\(policy) × telemetry") { _ in
        Setup(config: config, failures: [.unavailable])
      } _: { stage in
        #expect(stage.spans.calls.count == 1 && stage.spans.attempts.count == 2)
        #expect(stage.metric(metric) == "1")
        #expect(stage.metric("grpc_client_call_duration_seconds_count") == "1")
      },
      Seam("\(policy) × interceptors of parts") { stage in
        Setup(
          config: config,
          interceptors: [NotingParts(stage: stage, name: "parts")],
          failures: [.unavailable]
        )
      } _: { stage in
        seesOneCall(stage)
      },
      Seam("\(policy) × interceptors of whole calls") { stage in
        Setup(
          config: config,
          interceptors: [NotingCalls(stage: stage, name: "call")],
          failures: [.unavailable]
        )
      } _: { stage in
        seesOneCall(stage)
      },
    ]
  }

  private static let both = """
    {"methodConfig": [{"name": [{}], "retryPolicy": {"maxAttempts": 2, "initialBackoff": "1s", "maxBackoff": "1s",
      "backoffMultiplier": 1, "retryableStatusCodes": ["ABORTED"]}, "hedgingPolicy": {"maxAttempts": 2}}]}
    """

  fileprivate static let ofAttempts: [Seam] =
    [
      Seam("retries × hedging") { _ in
        // A method has one of them.
        #expect(throws: GRPCStatus.self) { try ServiceConfig(json: both) }
        return Setup()
      } _: { stage in
        #expect(stage.codes == [.ok])
      }
    ] + attempts("retries") + attempts("hedging")

  // MARK: Tokens, telemetry and interceptors

  fileprivate static let ofOthers: [Seam] = [
    Seam("tokens × telemetry") { _ in
      // A call that fails for want of a token makes no attempt.
      Setup(options: .with { $0.authTokenProvider = FailingTokens() })
    } _: { stage in
      #expect(stage.codes == [.unauthenticated])
      #expect(stage.spans.calls.count == 1 && stage.spans.attempts.isEmpty)
      #expect(stage.metric("grpc_client_call_duration_seconds_count") == "1")
      #expect(stage.metric("grpc_client_attempt_started_total") ?? "0" == "0")
    },
    Seam("tokens × interceptors of parts") { stage in
      // The token of a provider no interceptor sees; that of tokens leaves the call alone.
      let fields = ["authorization"]
      return Setup(
        options: .with { $0.authTokenProvider = CountedTokens() },
        interceptors: [
          NotingParts(stage: stage, name: "above", fields: fields),
          AccessTokenInterceptors(AccessTokens { AccessToken("shared") }),
          NotingParts(stage: stage, name: "below", fields: fields),
        ]
      )
    } _: { stage in
      #expect(stage.notes == ["above> none", "below> none", "below< OK", "above< OK"])
      #expect(stage.arrived("authorization") == ["Bearer token 1"])
    },
    Seam("tokens × interceptors of whole calls") { stage in
      // A refused token repeats what comes after the interceptor of tokens, and nothing before.
      Setup(
        interceptors: [
          NotingCalls(stage: stage, name: "above"), AccessTokenInterceptors(countedTokens()),
          NotingCalls(stage: stage, name: "below", fields: ["authorization"]),
        ],
        failures: [.unauthenticated]
      )
    } _: { stage in
      #expect(stage.notes == ["above>", "below> Bearer token 1"] + ["below> Bearer token 2"])
      #expect(stage.codes == [.ok])
    },
    Seam("telemetry × interceptors of parts") { stage in
      // The headers of a trace are added after the interceptors, for each attempt.
      Setup(interceptors: [NotingParts(stage: stage, name: "parts", fields: ["traceparent"])])
    } _: { stage in
      #expect(stage.notes == ["parts> none", "parts< OK"])
      #expect(stage.arrivals.map { $0.trace?.description } == [SeamStage.trace])
    },
    Seam("telemetry × interceptors of whole calls") { stage in
      // Each `next` is a call of the same caller.
      Setup(interceptors: [NotingCalls(stage: stage, name: "call", times: 2)])
    } _: { stage in
      #expect(stage.spans.calls.count == 2)
      #expect(Set(stage.spans.calls.map(\.parent)).count == 1)
      #expect(stage.metric("grpc_client_call_duration_seconds_count") == "2")
    },
    Seam("interceptors of parts × interceptors of whole calls") { stage in
      Setup(
        interceptors: [
          NotingParts(stage: stage, name: "above"), NotingCalls(stage: stage, name: "call", times: 2),
          NotingParts(stage: stage, name: "below"),
        ]
      )
    } _: { stage in
      #expect(
        stage.notes == ["above>", "call>"] + ["below>", "below< OK", "below>", "below< OK", "above< OK"]
      )
    },
  ]
}
