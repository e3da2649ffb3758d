// Nothing: a module depends on this one to be compiled after what users wait for.
//
// Of the modules whose dependencies are compiled, the package manager starts the one whose name is the last in the
// alphabet. This one's name is before all of ours, so it is compiled when no other can be, and what depends on it then
// follows. A processor that has finished one of the modules in the longest chain starts the next job that waits before it
// learns that the next module in the chain can be compiled. So that it starts nothing long, there is `LateInBuild`, on
// which this one depends; and that one depends on a module, so that neither is compiled at the start, when anything is.
