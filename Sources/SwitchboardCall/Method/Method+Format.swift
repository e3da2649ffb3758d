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

  /// The method in the format that a call's options ask for; `nil` where it stays as it is.
  @inlinable
  func chosen(by choice: PayloadChoice?) -> InFormat? {
    guard let choice else { return nil }
    return inFormat(chosenBy: choice)
  }

  @usableFromInline
  func inFormat(chosenBy choice: PayloadChoice) -> InFormat? {
    choice.format(for: descriptor).map(inFormat)
  }
}
