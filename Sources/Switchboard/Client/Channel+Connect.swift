extension Channel {
  /// A channel to a host and port, given apart. It connects when the first call wants it to.
  public static func connect(
    host: String,
    port: Int,
    options: ChannelOptions = ChannelOptions(),
    group: LoopGroup? = nil
  ) throws(GRPCStatus) -> Channel {
    // An IPv6 address has colons of its own.
    let host = host.contains(":") && !host.hasPrefix("[") ? "[\(host)]" : host
    return try Channel(target: "\(host):\(port)", options: options, group: group)
  }
}
