import SwitchboardProtobuf
import TestMessages
import Testing

typealias AllKinds2 = Switchboard_Testing_AllKinds2
typealias AllKinds3 = Switchboard_Testing_AllKinds3
typealias AllKindsEditions = Switchboard_Testing_AllKindsEditions

/// JSON input and the expected output: the same text by default.
struct JSONCase: CustomTestStringConvertible, Sendable {
  let input: String
  let output: String

  init(_ input: String, _ output: String? = nil) {
    self.input = input
    self.output = output ?? input
  }

  var testDescription: String { input }

  /// Checks the case with a message type, and that a round trip through binary loses nothing.
  func check<M: Message>(
    _ type: M.Type,
    extensions: ExtensionRegistry? = nil,
    ignoringUnknown: Bool = false,
    sourceLocation: SourceLocation = #_sourceLocation
  ) throws {
    var reading = JSONDecodingOptions()
    reading.ignoreUnknownFields = ignoringUnknown
    reading.typeRegistry = JSONCase.types
    var writing = JSONEncodingOptions()
    writing.deterministic = true
    writing.typeRegistry = JSONCase.types
    let message = try M(jsonString: input, extensions: extensions, options: reading)
    #expect(try message.jsonString(options: writing) == output, sourceLocation: sourceLocation)
    let again = try M(serializedBytes: message.serializedBytes(), extensions: extensions)
    #expect(try again.jsonString(options: writing) == output, sourceLocation: sourceLocation)
  }

  static let types: TypeRegistry = [AllKinds3.self, Switchboard_Testing_Outer3.self]
}

/// Checks that JSON is rejected. Returns the error's text.
@discardableResult
func refused<M: Message>(
  _ input: String,
  as type: M.Type = AllKinds3.self,
  sourceLocation: SourceLocation = #_sourceLocation
) -> String {
  var options = JSONDecodingOptions()
  options.typeRegistry = JSONCase.types
  let error = #expect(throws: DecodeError.self, "\(input)", sourceLocation: sourceLocation) {
    try M(jsonString: input, options: options)
  }
  return error?.description ?? ""
}
