// Package measure compares two ways of doing the same. It runs rounds of both in turn on one machine, takes the
// medians and their ratio, and compares the ratio with the one that was asked for.
//
// It must always hold: both sides of a match run in every round, so that other load of the machine affects both. The
// side that begins changes from round to round. A side that fails, or whose result is wrong, ends the run and has no
// figure.
package measure
