/// The version of the tools.
public let version = "0.1.0"
