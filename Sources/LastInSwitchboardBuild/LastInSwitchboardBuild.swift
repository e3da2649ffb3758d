// This module is empty. A module that depends on it is compiled after those that users wait for.
//
// Of the modules whose dependencies are compiled, the package manager starts the one whose name comes last in the
// alphabet. This module's name comes before all that begin with Switchboard, so it is compiled when none of those can be,
// and what depends on it follows. A processor that has finished a module of the longest chain starts the next job that
// waits, before it learns that the next module of the chain can be compiled. So that this job is a short one, this module
// depends on LateInSwitchboardBuild. That one depends on a module in turn, so that neither is compiled at the start, when
// processors take whatever comes first. `scripts/bench-build --modules hello` shows whether all of this still works.
