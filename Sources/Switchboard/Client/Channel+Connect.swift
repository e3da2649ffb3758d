extension Channel {
  /// A channel to a host and a port. It connects when the first call needs it.
  public static func connect(
    host: String,
    port: Int,
    options: ChannelOptions = ChannelOptions(),
    group: LoopGroup? = nil
  ) throws(GRPCStatus) -> Channel {
    // An IPv6 address contains colons.
    let host = host.contains(":") && !host.hasPrefix("[") ? "[\(host)]" : host
    return try Channel(target: "\(host):\(port)", options: options, group: group)
  }
}
