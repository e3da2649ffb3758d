import SwitchboardCall

extension Call {
  /// Creates a call of raw bytes to the host of `request`, on a channel of `pool`, or of the process's pool.
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
