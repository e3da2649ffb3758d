/// The kind of a piece of text, which determines its color.
enum Style: String, Sendable {
  case heading = "1"
  case keyword = "35"
  case name = "1;34"
  case type = "36"
  case string = "32"
  case number = "33"
  case comment = "2"
  case good = "1;32"
  case warning = "1;33"
  case bad = "1;31"
}
