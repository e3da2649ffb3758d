import SwitchboardDescriptors
import SwitchboardProtoCompiler
import SwitchboardProtobuf
import Testing

/// The types of the test messages, as their descriptors describe them.
enum TestPool {
  static let files: [Google_Protobuf_FileDescriptorProto] = {
    let compiler = ProtoCompiler(includeDirectories: [TestProtos.directory, "/usr/include"])
    let request = try? compiler.compile(TestProtos.files).request
    return request.flatMap {
      try? Google_Protobuf_Compiler_CodeGeneratorRequest(serializedBytes: $0).protoFile
    } ?? []
  }()

  /// The type that a generated message has.
  static func type<M: Message>(of message: M.Type) throws -> MessageTable {
    try #require(DescriptorPool(files).messageType(named: M.protoMessageName))
  }

  /// The types of a file with some messages.
  static func pool(
    syntax: String = "proto3",
    _ populate: (inout Google_Protobuf_FileDescriptorProto) -> Void
  ) throws -> DescriptorPool {
    var file = Google_Protobuf_FileDescriptorProto.with {
      $0.name = "test.proto"
      $0.syntax = syntax
    }
    populate(&file)
    return try DescriptorPool([file])
  }

  static func field(
    _ name: String,
    _ number: Int32,
    _ type: Google_Protobuf_FieldDescriptorProto.TypeEnum,
    typeName: String? = nil,
    label: Google_Protobuf_FieldDescriptorProto.Label = .optional
  ) -> Google_Protobuf_FieldDescriptorProto {
    .with {
      $0.name = name
      $0.number = number
      $0.type = type
      $0.label = label
      if let typeName { $0.typeName = typeName }
    }
  }

  static func message(
    _ name: String,
    _ fields: [Google_Protobuf_FieldDescriptorProto]
  ) -> Google_Protobuf_DescriptorProto {
    .with {
      $0.name = name
      $0.field = fields
    }
  }
}
