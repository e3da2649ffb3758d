import SwitchboardCall
import Testing

@testable import SwitchboardNetwork
@testable import SwitchboardTransport

@Suite struct CallTermsTests {
  private func terms(_ add: (inout CallTerms, CallTerms.Bytes) -> Void, _ values: String...) -> CallTerms {
    var terms = CallTerms()
    for value in values { Array(value.utf8).withUnsafeBufferPointer { add(&terms, $0) } }
    return terms
  }

  @Test func aRequestWithoutHeadersIsValidAndAcceptsNothing() {
    let terms = CallTerms()
    #expect(terms.areValid && terms.timeout == nil && terms.encoding == MessageCompression.none)
    #expect(!terms.isGRPC && !terms.acceptsTrailers && terms.negotiated(.gzip) == .none)
  }

  @Test func aTimeoutCountsOnce() {
    #expect(terms({ $0.addTimeout($1) }, "2S").timeout?.nanoseconds == 2_000_000_000)
    for wrong in [terms({ $0.addTimeout($1) }, "soon"), terms({ $0.addTimeout($1) }, "1S", "2S")] {
      #expect(wrong.hasBadTimeout && !wrong.areValid)
    }
  }

  @Test func anEncodingCountsOnceAndMustBeKnown() {
    #expect(terms({ $0.addEncoding($1) }, "gzip").encoding == .gzip)
    for wrong in [terms({ $0.addEncoding($1) }, "foo"), terms({ $0.addEncoding($1) }, "gzip", "gzip")] {
      #expect(wrong.encoding == nil && !wrong.areValid)
    }
  }

  @Test func onlyWhatTheClientAcceptsIsUsed() {
    let terms = terms({ $0.addAccepted($1) }, "gzip", "zstd")
    #expect(terms.negotiated(.gzip) == .gzip && terms.negotiated(.zstd) == .zstd)
    #expect(terms.negotiated(.deflate) == .none)
  }

  @Test func trailersAreAcceptedInSoManyWords() {
    #expect(terms({ $0.addTE($1) }, "trailers").acceptsTrailers)
    #expect(!terms({ $0.addTE($1) }, "gzip").acceptsTrailers)
  }

  @Test func theContentTypeNamesTheFormat() {
    let named = terms({ _ = $0.addContentType($1) }, "application/grpc+json")
    #expect(named.isGRPC && named.format == .json)
    let other = terms({ _ = $0.addContentType($1) }, "application/json")
    #expect(!other.isGRPC && other.format.isUnnamed)
  }

  @Test func anUnknownFormatIsAMistakeOnlyForAMethodThatExists() {
    var terms = terms({ _ = $0.addContentType($1) }, "application/grpc+json")
    terms.formatIsUnknown(for: nil)
    #expect(terms.format.isUnnamed && terms.areValid)
    terms.formatIsUnknown(for: TestService().methodHandlers.first.map { RPCMethod($0) })
    #expect(terms.hasUnknownFormat && !terms.areValid)
  }

  /// A dialect's timeout replaces a wrong one of gRPC, but gRPC's stays if the dialect has none.
  @Test func aDialectsSettingsReplaceGRPCs() {
    var terms = terms({ $0.addTimeout($1) }, "soon")
    var settings = DialectSettings()
    settings.encoding = .gzip
    terms.set(settings)
    #expect(terms.encoding == .gzip && terms.hasBadTimeout)
    settings.timeout = GRPCTimeout(nanoseconds: 5)
    terms.set(settings)
    #expect(terms.timeout?.nanoseconds == 5 && !terms.hasBadTimeout)
  }
}
