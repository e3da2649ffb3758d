// All of the module in one translation unit, which is what is compiled: every user's first build compiles it twice, and
// nearly all of the time goes into libprotobuf's headers.

#include "CProtoc.cc"
#include "Diagnostics.cc"
#include "Loader.cc"
#include "ParseAhead.cc"
#include "ParsedFile.cc"
#include "SourcePlaces.cc"
#include "SourceRoots.cc"
#include "SourceScan.cc"
#include "Workers.cc"
