extension Method {
  /// A method whose marshallers were chosen while the program runs.
  public typealias InFormat = Method<AnyMarshaller<Request>, AnyMarshaller<Response>>

  /// The same method with its messages in another format. Where the format has no marshaller for them, calls
  /// fail with `INTERNAL`.
  public func inFormat(_ format: any PayloadFormat) -> InFormat {
    InFormat(
      descriptor,
      requests: format.named(for: Request.self) ?? AnyMarshaller(missingFrom: format),
      responses: format.named(for: Response.self) ?? AnyMarshaller(missingFrom: format)
    )
  }

  /// The method in the format that a call's options ask for, or in its own.
  func inFormat(of options: CallOptions) -> InFormat {
    guard let format = options.payloadFormat?.format(for: descriptor) else {
      return InFormat(descriptor, requests: AnyMarshaller(requests), responses: AnyMarshaller(responses))
    }
    return inFormat(format)
  }
}
