/// What a generator is asked to do: a `google.protobuf.compiler.CodeGeneratorRequest`.
package struct GeneratorRequest: Sendable {
  package var filesToGenerate: [String] = []
  package var parameter = ""
  package private(set) var files: [FileDescriptor] = []

  /// The fields of the request, in `descriptor.proto` and `plugin.proto`.
  private enum Number {
    static let fileToGenerate: UInt64 = 1
    static let parameter: UInt64 = 2
    static let protoFile: UInt64 = 15
  }

  /// Reads an encoded request.
  package init(_ bytes: [UInt8]) throws(GeneratorError) {
    for file in try merge(bytes, filesAt: Number.protoFile) { files.append(try GeneratorRequest.file(file)) }
  }

  /// Reads an encoded request, its files on several threads.
  package init(_ bytes: [UInt8], with workers: Workers) async throws(GeneratorError) {
    let encoded = try merge(bytes, filesAt: Number.protoFile)
    try await read(encoded, with: workers)
  }

  /// A request with the files of an encoded `google.protobuf.FileDescriptorSet`, none of which is to be generated.
  package init(descriptorSet bytes: [UInt8], with workers: Workers) async throws(GeneratorError) {
    let encoded = try merge(bytes, filesAt: 1)
    try await read(encoded, with: workers)
  }

  /// Merges all fields but the files, which are returned.
  private mutating func merge(
    _ bytes: [UInt8],
    filesAt number: UInt64
  ) throws(GeneratorError) -> [ArraySlice<UInt8>] {
    var fields = try EncodedFields(bytes[...], depth: 0)
    var files: [ArraySlice<UInt8>] = []
    while let field = try fields.next() {
      switch field.number {
      case number: if let bytes = field.bytes { files.append(bytes) }
      case Number.fileToGenerate: if let name = field.text { filesToGenerate.append(name) }
      case Number.parameter: parameter = field.text ?? parameter
      default: break
      }
    }
    return files
  }

  private mutating func read(_ encoded: [ArraySlice<UInt8>], with workers: Workers)
    async throws(GeneratorError)
  {
    var files: [FileDescriptor] = []
    files.reserveCapacity(encoded.count)
    try await workers.run(encoded.count) { index in
      Result { () throws(GeneratorError) in try GeneratorRequest.file(encoded[index]) }
    } take: { (file: Result<FileDescriptor, GeneratorError>) throws(GeneratorError) in
      files.append(try file.get())
    }
    self.files = files
  }

  private static func file(_ bytes: ArraySlice<UInt8>) throws(GeneratorError) -> FileDescriptor {
    try FileDescriptor(bytes, depth: 1)
  }
}
