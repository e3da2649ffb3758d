// What others call it, for which the compiler says the name. Without these, it says only that an option of a channel cannot be
// found.
extension CallOptions {
  @available(
    *,
    unavailable,
    message: "a call has a timeout, from its start: set timeout, such as .seconds(5)"
  )
  public var deadline: ContinuousClock.Instant? {
    get { nil }
    set {}
  }

  @available(*, unavailable, renamed: "oauth2AccessToken")
  public var token: String? {
    get { oauth2AccessToken }
    set { oauth2AccessToken = newValue }
  }

  @available(*, unavailable, renamed: "initialMetadata")
  public var metadata: HPACKHeaders {
    get { initialMetadata }
    set { initialMetadata = newValue }
  }
}
