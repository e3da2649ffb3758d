extension Catalog_Price {
  /// The amount as people write it.
  public var text: String {
    let (units, rest) = cents.quotientAndRemainder(dividingBy: 100)
    return "\(units).\(rest < 10 ? "0" : "")\(rest) \(currency)"
  }
}
