import SwitchboardDescriptors
@_spi(Generation) import SwitchboardProtobuf

extension FileContext {
  /// An array, as source text, of the descriptors that a reflection service answers with for the file, serialized and in base64: those of all that it
  /// imports come first, its own last. Comments are left out, as reflection has no use for them.
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
