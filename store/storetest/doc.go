// Package storetest holds the contracts of the engines as test suites, with benchmarks and the servers that tests need. An
// engine is an implementation, such as pgstore or memstore. It must pass the suite of each interface that it implements.
// The engine's own tests call the suites and add what is specific to the engine.
//
// Most suites take a function that opens an empty engine for one test and closes it by t.Cleanup. Most suites use an
// engine only through its contract and a few functions that inject faults, so an engine may store data in any form. The
// suites of audits, chains, events, fundings, secrets and security also run SQL statements on the database.
package storetest
