extension Call {
  /// A call of raw bytes to the host of `request`, over the channels of a pool; without one, over those that all such
  /// clients of the process share.
  public convenience init(
    _ request: RequestOptions,
    responseHandler: any ResponseHandler<[UInt8]>,
    callOptions: CallOptions = CallOptions(),
    pool: ChannelPool? = nil
  ) {
    self.init(
      request,
      responseHandler: responseHandler,
      callOptions: callOptions,
      channel: Channel(host: request.host, options: callOptions, pool: pool)
    )
  }
}
