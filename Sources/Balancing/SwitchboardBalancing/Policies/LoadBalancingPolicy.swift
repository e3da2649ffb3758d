import SwitchboardCall

/// A way to distribute calls over endpoints. Service configs choose it by its name. Register it in
/// `ChannelOptions.loadBalancingPolicies`.
///
/// ```swift
/// struct FirstOfList: LoadBalancingPolicy {
///   let name = "example.first"
///   func readConfig(_ reader: ConfigReader, _ policies: PolicyRegistry) throws(GRPCStatus) -> FirstBalancer.Config {
///     FirstBalancer.Config(waits: try reader.bool("waits") ?? true)
///   }
///   func makeBalancer(_ host: any BalancerHost) -> FirstBalancer { FirstBalancer(host) }
/// }
/// ```
public protocol LoadBalancingPolicy: Sendable {
  /// The type that does the work for a channel.
  associatedtype Balancer: LoadBalancer

  /// Its name in service configs.
  var name: String { get }

  /// Reads the policy's configuration. Throws `INVALID_ARGUMENT` if it is invalid. Members that it
  /// does not read are unknown: they are ignored, and the channel logs them.
  func readConfig(_ reader: ConfigReader, _ policies: PolicyRegistry) throws(GRPCStatus) -> Balancer.Config

  /// Makes a balancer for a channel, or for another balancer. Called on the channel's loop.
  func makeBalancer(_ host: any BalancerHost) -> Balancer
}

/// A running policy: it makes subchannels for endpoints, follows their states, and gives its host a picker.
///
/// All methods are called on the channel's loop, and its host and subchannels must be used there.
public protocol LoadBalancer: AnyObject {
  /// The configuration.
  associatedtype Config: Hashable & Sendable

  /// The resolver has found other endpoints, or the configuration has changed. Both are complete. This is the first
  /// method that is called.
  ///
  /// If it throws, the name is resolved again after a wait. Without endpoints it should throw and let calls fail. If it has never
  /// given its host a picker, calls fail with what it throws.
  func update(_ endpoints: [Endpoint], _ config: Config) throws(GRPCStatus)

  /// The resolver has failed. A balancer that has endpoints keeps using them; one that has none lets calls fail.
  func resolverFailed(_ status: GRPCStatus)

  /// Connects, if it is idle.
  func leaveIdle()

  /// Shuts its subchannels down. No other method is called afterwards.
  func shutDown()
}

/// The parent of a balancer: the channel, or another balancer.
///
/// A balancer stores its host as a plain property. The host releases the balancer when it shuts it down, which may happen
/// while the balancer calls `update` or `resolveAgain`; what a balancer tells its host after that is ignored.
public protocol BalancerHost: AnyObject {
  /// Makes a subchannel, idle at first. `changed` is called on the loop after each change of its state, never before
  /// this method returns.
  func makeSubchannel(
    _ addresses: [EndpointAddress],
    _ options: SubchannelOptions,
    _ observer: any SubchannelObserver
  ) -> any Subchannel

  /// Sets the state and the picker. Calls wait until there is a picker.
  func update(_ state: ConnectivityState, _ picker: any Picker)

  /// Asks the resolver to resolve the name again, because endpoints have failed.
  func resolveAgain()

  /// Timers.
  var time: any BalancerTime { get }

  /// A random 64-bit number.
  func random() -> UInt64

  /// The policies that the channel knows.
  var policies: PolicyRegistry { get }

  /// Where the policy records metrics. `nil`: nowhere. It does not change.
  var metrics: MetricScope? { get }

  /// Says in the channel's log what is hardly meant. A channel logs the same text once, however often its policies are made.
  func warn(_ text: String)
}

/// The host of a child policy. It forwards to its own host what it does not handle itself.
package protocol ForwardingHost: BalancerHost {
  var host: any BalancerHost { get }
}

extension ForwardingHost {
  package func makeSubchannel(
    _ addresses: [EndpointAddress],
    _ options: SubchannelOptions,
    _ observer: any SubchannelObserver
  ) -> any Subchannel { host.makeSubchannel(addresses, options, observer) }

  package func random() -> UInt64 { host.random() }
  package var time: any BalancerTime { host.time }
  package var policies: PolicyRegistry { host.policies }
  package var metrics: MetricScope? { host.metrics }
  package func warn(_ text: String) { host.warn(text) }
}

/// Is notified of a subchannel's events.
public protocol SubchannelObserver: AnyObject {
  /// The state has changed.
  func subchannelChanged(_ subchannel: any Subchannel, to state: SubchannelState)

  /// The server has reported its load, independently of calls.
  func subchannel(_ subchannel: any Subchannel, reported load: LoadReport)
}

extension SubchannelObserver {
  /// Ignores it.
  public func subchannel(_ subchannel: any Subchannel, reported load: LoadReport) {}
}

extension BalancerHost {
  /// The generator of random numbers, for the standard library.
  var generator: HostGenerator { HostGenerator(host: self) }
}

/// The host's random numbers.
struct HostGenerator: RandomNumberGenerator {
  let host: any BalancerHost
  mutating func next() -> UInt64 { host.random() }
}
