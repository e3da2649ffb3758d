import SwitchboardDescriptors
import SwitchboardProtobuf
import SwitchboardText

/// The files of a generated service, as one set.
struct DescriptorSet {
  private var set = Google_Protobuf_FileDescriptorSet()

  mutating func add(_ data: String) throws {
    let bytes = Base64.decode(data.utf8) ?? []
    set.file.append(try Google_Protobuf_FileDescriptorProto(serializedBytes: bytes))
  }

  var bytes: [UInt8] { (try? set.serializedBytes()) ?? [] }
}
