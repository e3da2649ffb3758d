/// Who may use the generated types.
enum Visibility: String, CaseIterable {
  case `internal` = "Internal"
  case `package` = "Package"
  case `public` = "Public"

  /// What stands before a declaration.
  var modifier: String {
    switch self {
    case .internal: ""
    case .package: "package "
    case .public: "public "
    }
  }
}
