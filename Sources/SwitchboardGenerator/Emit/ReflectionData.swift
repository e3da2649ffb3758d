import SwitchboardDescriptors
@_spi(Generation) import SwitchboardProtobuf

extension FileContext {
  /// The source text of an array with the descriptors for reflection, serialized and in Base64: first those of all
  /// imports, then that of the file. Comments are omitted, because reflection does not use them.
  var reflectionLines: [String] {
    get throws(GeneratorError) {
      var lines = ["["]
      for index in schema.filesReached(from: index) {
        var descriptor = schema.files[index].descriptor
        descriptor.clearSourceCodeInfo()
        do throws(EncodeError) {
          var text: [UInt8] = []
          Base64.encode(try descriptor.serializedBytes(), into: &text)
          lines.append("  \"\(String(decoding: text, as: UTF8.self))\",")
        } catch {
          throw GeneratorError("\(descriptor.name): the descriptor cannot be written: \(error)")
        }
      }
      return lines + ["]"]
    }
  }
}
