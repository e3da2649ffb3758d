/// The access level of the generated types.
enum Visibility: String, CaseIterable {
  case `internal` = "Internal"
  case `package` = "Package"
  case `public` = "Public"

  /// The modifier before a declaration.
  var modifier: String {
    switch self {
    case .internal: ""
    case .package: "package "
    case .public: "public "
    }
  }
}
