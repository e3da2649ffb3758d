/// The key of a value in a call's `UserInfo`, and the type of the value.
///
/// ```swift
/// enum UserName: UserInfoKey { typealias Value = String }
/// ```
public protocol UserInfoKey {
  /// The type of the value.
  associatedtype Value: Sendable
}

/// Values that the interceptors and the handler of one call share, by typed keys.
///
/// ```swift
/// context.userInfo[UserName.self] = "ada"
/// let name = context.userInfo[UserName.self] ?? "nobody"
/// ```
public struct UserInfo: Sendable {
  private var values: [ObjectIdentifier: any Sendable] = [:]

  /// No values.
  public init() {}

  /// The value for a key, if there is one.
  public subscript<Key: UserInfoKey>(key: Key.Type) -> Key.Value? {
    get { values[ObjectIdentifier(key)] as? Key.Value }
    set { values[ObjectIdentifier(key)] = newValue }
  }
}
