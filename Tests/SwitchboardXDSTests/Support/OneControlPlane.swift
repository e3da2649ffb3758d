import SwitchboardCall
import SwitchboardProtobuf

@testable import SwitchboardXDS

/// The state of a client that has one control plane, for tests that are not about others.
extension DiscoveryState {
  init(features: Set<XDSBootstrap.Feature> = [], counts: ResourceCounts? = nil) {
    self.init(
      servers: [Server(name: "cp", features: features)],
      authorities: [ServerChoice([0])],
      counts: counts
    )
  }

  /// Without what opens the stream: the test does that.
  mutating func watch(_ key: ResourceKey, _ id: WatchID) -> [Action] {
    watch(key, id, of: 0).filter { if case .open = $0 { false } else { true } }
  }

  mutating func nextRequest() -> DiscoveryRequest? { nextRequest(0) }
  mutating func opened() { opened(0) }
  mutating func connected() -> [Action] { connected(0) }
  mutating func ended(_ status: GRPCStatus) -> [Action] { ended(0, status) }

  mutating func received(
    _ type: ResourceType,
    version: String,
    nonce: String,
    _ reads: [ResourceReader.Read],
    _ errors: [Result<ResourceError, ResourceFault>] = [],
    at time: Google_Protobuf_Timestamp = Google_Protobuf_Timestamp()
  ) -> [Action] { received(0, type, version: version, nonce: nonce, reads, errors, at: time) }

  mutating func refused(_ type: ResourceType, nonce: String, _ fault: ResourceFault) -> [Action] {
    refused(0, type, nonce: nonce, fault)
  }
}
