// Package storetest holds the contracts of the engines as test suites. An engine is right when it passes
// the suite of each interface it implements; its own tests call them and add only what is its own.
//
// Each suite is given a function that opens an engine, empty, for one test, and closes it by t.Cleanup.
// The suites see an engine only through its contract and the few handles that tests need to make faults
// happen, so that an engine may keep what it likes in whatever shape.
package storetest
