/// What `authorization: Bearer` takes.
package enum BearerToken {
  /// Throws `INVALID_ARGUMENT` for what is less than a token, or more: the line of a file has an end, and the library adds the
  /// scheme.
  package static func check(_ token: String) throws(GRPCStatus) {
    let hasScheme = token.prefix(7).lowercased().utf8.elementsEqual("bearer ".utf8)
    guard token.isEmpty || hasScheme || token.utf8.contains(where: { $0 < 0x20 }) else { return }
    throw GRPCStatus(
      code: .invalidArgument,
      message: """
        the access token is empty, begins with "Bearer" or has a line break: give the token alone, without the scheme \
        and without the end of its line
        """
    )
  }
}
