import SwitchboardCall

extension Channel {
  /// A call of raw bytes.
  package func call(
    _ method: MethodDescriptor,
    options: CallOptions? = nil
  ) -> MethodCall<BytesMarshaller, BytesMarshaller> {
    MethodCall(
      Method(method, requests: BytesMarshaller(), responses: BytesMarshaller()),
      on: self,
      options: options
    )
  }
}
