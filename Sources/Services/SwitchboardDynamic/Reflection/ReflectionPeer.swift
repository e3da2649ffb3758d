import Switchboard
import SwitchboardDescriptors

/// A server that is asked for its descriptors: how messages call it, and how its answers are read.
package protocol ReflectionPeer: Sendable {
  /// What messages call it.
  var text: String { get }
  /// The metadata of every question.
  var metadata: HPACKHeaders { get }
  /// Whether a status means that the server does not have the method.
  func lacksMethod(_ status: GRPCStatus) -> Bool
  /// Those of these files that are known without the server. Some servers leave out the well-known types.
  func knownFiles(_ names: [String]) -> [Google_Protobuf_FileDescriptorProto]
  /// The error that is thrown for a failure.
  func error(for failure: SchemaFailure) -> any Error
}
