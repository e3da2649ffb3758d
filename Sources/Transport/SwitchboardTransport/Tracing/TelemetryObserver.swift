import SwitchboardBalancing
import SwitchboardCall

/// An observer that is a program's telemetry: it follows each step of calls, and measures what components of channels do.
///
/// ```
///   client:  TelemetryObserver ──> ChannelTracer ──> ClientCallTracer ──> AttemptTracer
///   server:  TelemetryObserver ──> ServerTracer  ──> CallTracer
/// ```
/// Each makes the next one, and an `AttemptTracer` is a `CallTracer`. Transports wrap any other observer in a `PlainTracer`.
package protocol TelemetryObserver: AnyObject, CallObserver {
  /// Creates the tracer of a channel whose calls run on this loop. The target has a scheme.
  func channelTracer(target: String, on loop: any EventLoop) -> any ChannelTracer

  /// Called once for each server that has the observer, when it is made.
  func serverWasMade()

  /// Creates the tracer of calls that a server accepts from this peer on this loop. Called once for each connection.
  func serverTracer(on loop: any EventLoop, peer: String) -> any ServerTracer

  /// Where the components of a channel to this target record. `nil` if nothing is recorded.
  func metrics(target: String) -> MetricScope?
}
