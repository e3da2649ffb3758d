import EchoService
import Switchboard

/// Makes calls until it is stopped, as often as it is run.
final class Caller: Sendable {
  private struct State {
    var isStopped = false
    var made = 0
    /// Why the first that failed did.
    var lost: String?
  }

  private let client: Echo_EchoClient
  private let state = Locked(State())

  init(_ client: Echo_EchoClient) { self.client = client }

  var made: Int { state.withLock { $0.made } }
  var lost: String? { state.withLock { $0.lost } }

  func stop() { state.withLock { $0.isStopped = true } }

  func run() async {
    while !state.withLock({ $0.isStopped }), !Task.isCancelled {
      do {
        _ = try await client.server()
      } catch { state.withLock { $0.lost = $0.lost ?? "\(error)" } }
      state.withLock { $0.made += 1 }
    }
  }
}
