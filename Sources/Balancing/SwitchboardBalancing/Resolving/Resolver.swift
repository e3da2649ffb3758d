import SwitchboardCall

/// Turns targets of one scheme into endpoints. Register it in `ChannelOptions.resolvers`.
///
/// ```swift
/// import Foundation
///
/// /// `file:///etc/backends` has an address in each line.
/// struct FileResolver: Resolver {
///   let schemes = ["file"]
///
///   func start(_ target: Target, _ updates: ResolverUpdates) -> any Resolution {
///     let reading = Task {
///       let text = try String(contentsOfFile: "/\(target.endpoint)", encoding: .utf8)
///       let addresses = text.split(separator: "\n").compactMap { EndpointAddress(ip: $0, port: 443) }
///       updates.report(ResolverResult(endpoints: addresses.map { Endpoint([$0]) }))
///     }
///     return TaskResolution(reading)
///   }
/// }
/// ```
public protocol Resolver: Sendable {
  /// The schemes of its targets, in lower case.
  var schemes: [String] { get }

  /// Whether its targets can have service configs. If so, the name is resolved before a call is made.
  var findsServiceConfigs: Bool { get }

  /// The `:authority` of calls to a target, and the name that the server's certificate must have.
  func serverName(of target: Target) throws(GRPCStatus) -> String

  /// Starts resolving. Called on the channel's loop when the channel is needed, and again each time after it was idle.
  ///
  /// If a target that `serverName(of:)` accepts turns out to be invalid, the resolver reports a failure.
  func start(_ target: Target, _ updates: ResolverUpdates) -> any Resolution
}

extension Resolver {
  /// `true`.
  public var findsServiceConfigs: Bool { true }

  /// The endpoint without its port.
  public func serverName(of target: Target) throws(GRPCStatus) -> String { target.endpoint }
}

/// A resolver whose results decide about each call: none is made before there is a router.
package protocol RoutingResolver: Resolver {}

/// A target that is being resolved, until it is stopped. All methods are called on the channel's loop.
public protocol Resolution: AnyObject {
  /// The endpoints may have changed, because a connection has failed. A resolver that is notified of changes ignores
  /// this.
  func resolveAgain()

  /// Stops: nothing is reported afterwards.
  func stop()
}

/// The result of a resolver.
public struct ResolverResult: Sendable {
  /// The endpoints, or why there are none.
  public var endpoints: Result<[Endpoint], GRPCStatus>
  /// The service config that comes with the name (`nil` if there is none), or the error if it is invalid.
  public var serviceConfig: Result<ServiceConfig?, GRPCStatus>
  /// Decides about each call, from a resolver that routes.
  package var router: (any CallRouter)?
  /// The resolver's own policy, whatever the service config names.
  package var policy: PolicyChoice?

  /// The endpoints that were found.
  public init(endpoints: [Endpoint], serviceConfig: Result<ServiceConfig?, GRPCStatus> = .success(nil)) {
    self.endpoints = .success(endpoints)
    self.serviceConfig = serviceConfig
  }

  /// Reports a failure. Endpoints that were found before are kept.
  public init(failure: GRPCStatus) {
    endpoints = .failure(failure)
    serviceConfig = .success(nil)
  }
}

/// The interface of a resolver to its channel: it reports results, and provides the loop and timers.
public struct ResolverUpdates: Sendable {
  /// The loop of the channel.
  public let eventLoop: any EventLoop
  /// The timers of this loop.
  public let time: any BalancerTime
  /// The channel's limits for repeated lookups.
  public let pace: ResolutionPace
  /// Where the resolver records metrics; `nil` without telemetry.
  package let metrics: MetricScope?
  /// The policies that the channel knows.
  package let policies: PolicyRegistry
  private let wait: @Sendable (String) -> Void
  private let receive: @Sendable (ResolverResult) -> Void

  package init(
    eventLoop: any EventLoop,
    time: any BalancerTime,
    pace: ResolutionPace,
    metrics: MetricScope? = nil,
    policies: PolicyRegistry = PolicyRegistry(),
    wait: @escaping @Sendable (String) -> Void = { _ in },
    receive: @escaping @Sendable (ResolverResult) -> Void
  ) {
    self.eventLoop = eventLoop
    self.time = time
    self.pace = pace
    self.metrics = metrics
    self.policies = policies
    self.wait = wait
    self.receive = receive
  }

  /// Says what the first result still needs, for messages of calls that wait for it.
  package func awaits(_ what: String) {
    let wait = wait
    eventLoop.execute { wait(what) }
  }

  /// Reports a result, which replaces the previous one. May be called from any thread, even before `start` returns; the
  /// channel processes it later.
  public func report(_ result: ResolverResult) {
    let receive = receive
    eventLoop.execute { receive(result) }
  }
}

/// How often a channel looks up its name.
public struct ResolutionPace: Hashable, Sendable {
  /// The shortest time between two lookups while they succeed and connections hold, even if an answer expires sooner.
  public var shortestInterval = Duration.seconds(30)
  /// The wait after a lookup that failed or found no working server. It grows by a factor of 1.6 with each such lookup.
  public var initialBackoff = Duration.seconds(1)
  /// The longest such wait.
  public var maxBackoff = Duration.seconds(120)

  /// The defaults.
  public init() {}
}

extension ResolutionPace: RuledOptions {
  package static let rules: [OptionRule<ResolutionPace>] = [
    OptionRule(\.shortestInterval, "shortestInterval", .above(.zero), because: noPause),
    OptionRule(\.initialBackoff, "initialBackoff", .above(.zero), because: noPause),
    OptionRule(\.maxBackoff, "maxBackoff", .above(.zero), because: noPause),
  ]

  private static let noPause = "lookups need a pause between them"
}

/// A resolution that has already reported its endpoints.
package final class FinishedResolution: Resolution {
  package init() {}
  package func resolveAgain() {}
  package func stop() {}
}

/// A resolution that runs a task once.
public final class TaskResolution: Resolution {
  private let task: Task<Void, any Error>

  /// `task` is cancelled when the channel no longer needs it.
  public init(_ task: Task<Void, any Error>) { self.task = task }

  public func resolveAgain() {}

  public func stop() { task.cancel() }
}
