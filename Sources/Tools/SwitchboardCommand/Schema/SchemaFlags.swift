/// The flags that name a source of descriptors other than the server.
enum SchemaFlags {
  static let include = Flag(
    "-I",
    "--include",
    value: "DIR",
    repeats: true,
    completion: .directory,
    help:
      "Look for the .proto files and their imports in DIR; the default is the current directory, or the directory of a "
      + "file outside of it."
  )
  static let proto = Flag(
    "--proto",
    value: "FILE",
    repeats: true,
    completion: .file,
    help: "Take descriptors from this .proto file instead of asking the server."
  )
  static let descriptorSet = Flag(
    "--descriptor-set",
    value: "FILE",
    repeats: true,
    completion: .file,
    help:
      "Take them from this serialized FileDescriptorSet, as 'protoc --include_imports --descriptor_set_out' writes it."
  )

  static let group = FlagGroup("Descriptors", [proto, include, descriptorSet])
}
