import SwitchboardDescriptors
import SwitchboardProtobuf

extension Google_Protobuf_Compiler_CodeGeneratorRequest {
  /// Decodes a request for a generator, its files on several threads. What this generator does not use is left out:
  /// positions in the sources that have no comment, of which there are seven times as many as of those that have one,
  /// and the field `source_file_descriptors`, which has the files to generate once more.
  package static func decode(_ bytes: [UInt8], with workers: Workers) async throws(DecodeError) -> Self {
    try await decodeFiles(of: bytes, at: 15, without: 17, with: workers) { $0.protoFile = $1 }
  }
}

extension Google_Protobuf_FileDescriptorSet {
  /// Decodes a set, its files on several threads, without positions in the sources that have no comment.
  package static func decode(_ bytes: [UInt8], with workers: Workers) async throws(DecodeError) -> Self {
    try await decodeFiles(of: bytes, at: 1, with: workers) { $0.file = $1 }
  }
}

/// Decodes a message whose field with this number has files; `set` sets that field.
private func decodeFiles<Container: Message>(
  of bytes: [UInt8],
  at number: UInt64,
  without dropped: UInt64? = nil,
  with workers: Workers,
  set: (inout Container, [Google_Protobuf_FileDescriptorProto]) -> Void
) async throws(DecodeError) -> Container {
  guard let split = FieldSplit(bytes, at: number, without: dropped),
    var container = try? Container(serializedBytes: split.rest)
  else { return try Container(serializedBytes: bytes) }
  let places = split.values
  var files: [Google_Protobuf_FileDescriptorProto] = []
  files.reserveCapacity(places.count)
  do throws(DecodeError) {
    try await workers.run(places.count) { index in
      Result { () throws(DecodeError) in try decodeFile(bytes, at: places[index]) }
    } take: { result throws(DecodeError) in
      files.append(try result.get())
    }
  } catch {
    // The error of the whole says where it is.
    return try Container(serializedBytes: bytes)
  }
  set(&container, files)
  return container
}

private func decodeFile(
  _ bytes: [UInt8],
  at place: Range<Int>
) throws(DecodeError) -> Google_Protobuf_FileDescriptorProto {
  var file = try Google_Protobuf_FileDescriptorProto(serializedBytes: bytes.span.bytes.extracting(place))
  if file.hasSourceCodeInfo {
    file.sourceCodeInfo.location.removeAll { !$0.hasLeadingComments && !$0.hasTrailingComments }
  }
  return file
}
