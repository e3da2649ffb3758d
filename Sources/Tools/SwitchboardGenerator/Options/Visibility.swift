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

  /// The modifiers before an accessor of a field. The code of a public one is compiled where it is used: other modules
  /// would call it otherwise, and this one would contain the accessors that nothing uses.
  var accessorModifiers: String { self == .public ? "@_alwaysEmitIntoClient public " : modifier }
}
