/// The version of the tools, as they tell it.
public let version = "0.1.0"
