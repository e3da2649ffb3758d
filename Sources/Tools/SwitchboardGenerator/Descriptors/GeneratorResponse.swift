import SwitchboardSchema

/// A part of a `google.protobuf.compiler.CodeGeneratorResponse`, encoded. Parts add up to a response.
struct GeneratorResponse {
  private(set) var bytes: [UInt8] = []

  /// What this generator supports: optional fields of proto3 (1) and editions (2).
  static var support: GeneratorResponse {
    var response = GeneratorResponse()
    response.append(number: 2, 1 | 2)
    response.append(number: 3, UInt64(Features.earliestEdition))
    response.append(number: 4, UInt64(Features.latestEdition))
    return response
  }

  /// Why nothing was generated.
  init(error: GeneratorError) { append(number: 1, Array(error.description.utf8)) }

  /// Files that were generated.
  init(files: [GeneratedFile]) {
    for file in files {
      var encoded = GeneratorResponse()
      encoded.append(number: 1, Array(file.name.utf8))
      encoded.append(number: 15, Array(file.content.utf8))
      append(number: 15, encoded.bytes)
    }
  }

  private init() {}

  private mutating func append(number: UInt64, _ value: UInt64) {
    append(number << 3)
    append(value)
  }

  private mutating func append(number: UInt64, _ value: [UInt8]) {
    append(number << 3 | 2)
    append(UInt64(value.count))
    bytes += value
  }

  private mutating func append(_ varint: UInt64) {
    var rest = varint
    while rest >= 0x80 {
      bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    bytes.append(UInt8(truncatingIfNeeded: rest))
  }
}
