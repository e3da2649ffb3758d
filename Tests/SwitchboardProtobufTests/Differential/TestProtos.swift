import SwitchboardProtobuf
import TestMessages

/// The `.proto` files of the module `TestMessages`, for the reference to compile.
enum TestProtos {
  /// The root folder of imports: the package's `Protos`.
  static let directory: String = {
    let components = #filePath.split(separator: "/", omittingEmptySubsequences: false)
    return components.dropLast(4).joined(separator: "/") + "/Protos"
  }()

  /// The files that libprotobuf 3.21 can read; it does not support editions.
  static let files = ["\(directory)/testing/all_kinds_2.proto", "\(directory)/testing/all_kinds_3.proto"]

  static let extensions = Switchboard_Testing_AllKinds2_Extensions
}
