// Package storetest holds the contracts of the engines as test suites. An engine is an implementation, such as
// pgstore or memstore. It is correct when it passes the suite of each interface that it implements. The engine's own
// tests call the suites and add only what is specific to the engine.
//
// Each suite takes a function that opens an empty engine for one test and closes it by t.Cleanup. Most suites use an
// engine only through its contract and a few functions that inject faults, so an engine may store data in any form. The
// suites of audits, chains, secrets and security also change the database by SQL.
package storetest
