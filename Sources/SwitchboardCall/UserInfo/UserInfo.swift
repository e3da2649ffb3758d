/// Names a value of a call's `UserInfo` and gives its type.
///
///     enum UserName: UserInfoKey { typealias Value = String }
///     context.userInfo[UserName.self] = "ada"
public protocol UserInfoKey {
  /// The type of the value under this key.
  associatedtype Value: Sendable
}

/// What the interceptors and the handler of one call share, by typed keys.
public struct UserInfo: Sendable {
  private var values: [ObjectIdentifier: any Sendable] = [:]

  /// Nothing yet.
  public init() {}

  /// The value under a key; `nil` when there is none.
  public subscript<Key: UserInfoKey>(key: Key.Type) -> Key.Value? {
    get { values[ObjectIdentifier(key)] as? Key.Value }
    set { values[ObjectIdentifier(key)] = newValue }
  }
}
