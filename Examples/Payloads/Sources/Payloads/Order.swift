/// A plain value, which travels as JSON.
struct Order: Codable, Sendable {
  var article: String
  var count: Int
}
