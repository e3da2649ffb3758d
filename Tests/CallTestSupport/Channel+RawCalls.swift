import SwitchboardCall

extension MethodDescriptor {
  /// The method with raw bytes as messages.
  package var bytes: Method<BytesMarshaller, BytesMarshaller> {
    Method(self, requests: BytesMarshaller(), responses: BytesMarshaller())
  }
}

extension Channel {
  /// A call of raw bytes.
  package func call(
    _ method: MethodDescriptor,
    options: CallOptions? = nil
  ) -> MethodCall<BytesMarshaller, BytesMarshaller> {
    MethodCall(method.bytes, on: self, options: options)
  }
}
