import SwitchboardProtobuf

/// The mark in descriptors of methods whose messages are not protobuf on the wire.
extension Google_Protobuf_FileDescriptorProto {
  /// Whether the file declares an option of methods of its own with the number of the mark.
  fileprivate var hasOtherMark: Bool {
    let number = Switchboard_Payload_V1_Extensions_formats.number
    func isOther(_ option: Google_Protobuf_FieldDescriptorProto) -> Bool {
      option.number == number && option.extendee.utf8.elementsEqual(".google.protobuf.MethodOptions".utf8)
    }
    guard !package.utf8.elementsEqual("switchboard.payload.v1".utf8) else { return false }
    return `extension`.contains(where: isOther)
      || messageType.contains { $0.`extension`.contains(where: isOther) }
  }

  /// Marks the methods of a service whose messages are not protobuf. `formats` has the names of methods, and those of the
  /// formats that are not protobuf. Returns whether there are any.
  package mutating func mark(
    _ formats: [(method: String, requests: String?, responses: String?)],
    of service: String
  ) -> Bool {
    guard !hasOtherMark else { return false }
    var isChanged = false
    for index in self.service.indices where isExactly(service, index) {
      for (name, requests, responses) in formats where requests != nil || responses != nil {
        let method = self.service[index].method.firstIndex { $0.name.utf8.elementsEqual(name.utf8) }
        guard let method else { continue }
        self.service[index].method[method].options.Switchboard_Payload_V1_formats = .with {
          if let requests { $0.requests = requests }
          if let responses { $0.responses = responses }
        }
        isChanged = true
      }
    }
    return isChanged
  }

  private func isExactly(_ name: String, _ index: Int) -> Bool {
    let full = package.isEmpty ? service[index].name : "\(package).\(service[index].name)"
    return full.utf8.elementsEqual(name.utf8)
  }
}

/// The marks of a schema's methods.
package struct PayloadMarks: Sendable {
  /// Whether a file declares another option with the number of the mark: then nothing is one.
  private let isTaken: Bool

  /// `files` are all of the schema. Each is looked at once, because methods and declarations may both be very many.
  package init(in files: some Sequence<Google_Protobuf_FileDescriptorProto>) {
    isTaken = files.contains(where: \.hasOtherMark)
  }

  /// What the messages of a method are on the wire, where they are not protobuf: the names of the formats of requests and
  /// responses.
  package func formats(
    of method: Google_Protobuf_MethodDescriptorProto
  ) -> (requests: String?, responses: String?)? {
    guard !isTaken, method.hasOptions, let bytes: [UInt8] = try? method.options.serializedBytes(),
      let known = try? Google_Protobuf_MethodOptions(
        serializedBytes: bytes,
        extensions: [Switchboard_Payload_V1_Extensions_formats]
      ), known.hasSwitchboard_Payload_V1_formats
    else { return nil }
    let formats = known.Switchboard_Payload_V1_formats
    let names = (formats.hasRequests ? formats.requests : nil, formats.hasResponses ? formats.responses : nil)
    return names.0 == nil && names.1 == nil ? nil : names
  }
}
